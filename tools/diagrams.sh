#!/usr/bin/env bash
# The Mermaid diagrams of docs/*.md as pictures for the site: docs/pictures/<page>.mermaid.svg. Needs Node and Chromium.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PUPPETEER_SKIP_DOWNLOAD=1
printf '{"executablePath": "%s", "args": ["--no-sandbox"]}' "$(command -v chromium)" > "$work/browser.json"
printf '{"theme": "neutral", "htmlLabels": false, "flowchart": {"htmlLabels": false}}' > "$work/style.json"
for page in $(grep -l '^```mermaid' docs/*.md); do
  name=$(basename "$page" .md)
  sed -n '/^```mermaid/,/^```/p' "$page" | sed '1d;$d' > "$work/$name.mmd"
  sed 's/<\/\?b>//g' "$work/$name.mmd" > "$work/plain.mmd"  # labels of an SVG file have no HTML but line breaks
  npx --yes @mermaid-js/mermaid-cli@11 --quiet --puppeteerConfigFile "$work/browser.json" --configFile "$work/style.json" \
    --input "$work/plain.mmd" --output "$work/$name.svg"
  .venv/bin/python docs/_extensions/diagrams.py "$work/$name.mmd" "$work/$name.svg" "docs/pictures/$name.mermaid.svg"
done
