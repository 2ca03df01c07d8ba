// What build.mjs makes of imports that are not TypeScript.

declare module "*.css";

declare module "*.wasm" {
  const bytes: Uint8Array<ArrayBuffer>;
  export default bytes;
}

// `import source from "worker:./worker.ts"`: the file and what it imports, bundled, as text.
declare module "worker:*" {
  const source: string;
  export default source;
}
