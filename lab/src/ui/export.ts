// A plot as a file: SVG of pure vectors with its styles written out, and PNG at twice the size.
//
// Styles of the page (classes, CSS variables, light or dark) are copied into each element, so that
// the file looks the same without the page.

const PROPERTIES = [
  "fill",
  "fill-opacity",
  "fill-rule",
  "stroke",
  "stroke-width",
  "stroke-dasharray",
  "stroke-opacity",
  "stroke-linejoin",
  "stroke-linecap",
  "opacity",
  "font-family",
  "font-size",
  "font-weight",
  "font-style",
  "text-anchor",
  "dominant-baseline",
  "paint-order",
  "visibility",
  "display",
];

/** The SVG as text, with a background and without anything that depends on the page. */
export function svgText(svg: SVGSVGElement): string {
  const copy = svg.cloneNode(true) as SVGSVGElement;
  const from = [svg, ...svg.querySelectorAll("*")];
  const to = [copy, ...copy.querySelectorAll("*")];
  from.forEach((element, i) => {
    to[i].removeAttribute("class");
    const written = ownStyles(element, element === svg);
    if (written) to[i].setAttribute("style", written);
  });
  copy.querySelectorAll("[data-no-export]").forEach((element) => element.remove());
  const { width, height } = svg.viewBox.baseVal;
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("width", String(width));
  copy.setAttribute("height", String(height));
  const back = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  back.setAttribute("width", String(width));
  back.setAttribute("height", String(height));
  back.setAttribute("fill", getComputedStyle(svg).getPropertyValue("--surface").trim() || "white");
  copy.prepend(back);
  return `<?xml version="1.0" encoding="UTF-8"?>\n${new XMLSerializer().serializeToString(copy)}\n`;
}

/** The styles of an element that its parent does not hand down. */
function ownStyles(element: Element, root: boolean): string {
  const style = getComputedStyle(element);
  const above = root ? null : getComputedStyle(element.parentElement!);
  const inherited = (name: string) => above?.getPropertyValue(name) ?? "";
  const usual: Record<string, string> = { opacity: "1", display: "inline" };
  return PROPERTIES.map((name) => [name, style.getPropertyValue(name)])
    .filter(([name, value]) => value !== (usual[name] ?? inherited(name)))
    .map(([name, value]) => `${name}:${value}`)
    .join(";");
}

/** The SVG as a PNG of `scale` times its size. */
export async function pngBlob(svg: SVGSVGElement, scale = 2): Promise<Blob> {
  const image = new Image();
  const source = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svgText(svg))}`;
  await new Promise((resolve, reject) => {
    image.onload = resolve;
    image.onerror = () => reject(new Error("The browser could not draw the picture."));
    image.src = source;
  });
  const { width, height } = svg.viewBox.baseVal;
  const canvas = document.createElement("canvas");
  canvas.width = Math.round(scale * width);
  canvas.height = Math.round(scale * height);
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) =>
    canvas.toBlob((blob) =>
      blob ? resolve(blob) : reject(new Error("The browser could not write the picture.")),
    ),
  );
}

/** Hand a file to the user. */
export function download(name: string, content: Blob | string, type = "text/plain"): void {
  const blob = content instanceof Blob ? content : new Blob([content], { type });
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

export const downloadSvg = (svg: SVGSVGElement, name: string) =>
  download(`${name}.svg`, svgText(svg), "image/svg+xml");

export const downloadPng = async (svg: SVGSVGElement, name: string) =>
  download(`${name}.png`, await pngBlob(svg));
