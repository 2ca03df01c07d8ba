// lab/src, lab/core -> src/maxmargin/lab/index.html, one file that needs nothing else.
//
// The core was compiled before (core/build.sh, by `make lab`). The worker is bundled first and becomes a string of the page's
// script; style sheets, fonts and the WebAssembly module are inlined. The same sources give the
// same bytes in any folder.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import * as esbuild from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const target = process.argv[2] ?? join(here, "../src/maxmargin/lab/index.html");
const LARGEST = 2_000_000; // bytes of the page

const options = {
  absWorkingDir: here,
  bundle: true,
  write: false,
  minify: true,
  format: "esm",
  target: "es2022",
  charset: "utf8",
  legalComments: "none",
  logLevel: "warning",
  loader: { ".wasm": "binary", ".woff2": "dataurl" },
};

// `import source from "worker:./worker.ts"` is the bundled file as text.
const worker = {
  name: "worker",
  setup(build) {
    build.onResolve({ filter: /^worker:/ }, (args) => ({
      path: join(args.resolveDir, args.path.slice("worker:".length)),
      namespace: "worker",
    }));
    build.onLoad({ filter: /.*/, namespace: "worker" }, async (args) => {
      const made = await esbuild.build({ ...options, entryPoints: [args.path], format: "iife" });
      return { contents: made.outputFiles[0].text, loader: "text" };
    });
  },
};

// KaTeX names each font in three formats; every browser that runs the lab reads woff2.
const fonts = {
  name: "fonts",
  setup(build) {
    build.onLoad({ filter: /\.(woff|ttf)$/ }, () => ({ contents: "", loader: "dataurl" }));
  },
};

async function bundle() {
  const made = await esbuild.build({
    ...options,
    entryPoints: ["src/main.ts"],
    outdir: "build",
    plugins: [worker, fonts],
  });
  const ending = (suffix) => made.outputFiles.find((file) => file.path.endsWith(suffix))?.text;
  return { script: ending(".js"), style: ending(".css") ?? "" };
}

function page({ script, style }) {
  const inline = { STYLE: style, SCRIPT: script.replaceAll("</script", "<\\/script") };
  return readFileSync(join(here, "src/index.html"), "utf8").replace(
    /\/\* (STYLE|SCRIPT) \*\//g,
    (_, name) => inline[name].trim(),
  );
}

const html = page(await bundle());
const size = Buffer.byteLength(html);
if (size > LARGEST) throw new Error(`The page has ${size} bytes, more than ${LARGEST}.`);
mkdirSync(dirname(target), { recursive: true });
writeFileSync(target, html);
console.log(`${relative(process.cwd(), target)}: ${(size / 1e3).toFixed(0)} KB`);
