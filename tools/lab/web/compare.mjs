// Ferry beside Bergamot in WebAssembly, both in this Node, on the same Firefox model and lines, alternating:
//
//     node compare.mjs FERRY BERGAMOT MODEL.gguf FOLDER LINES [ROUNDS]
//
// FERRY: bindings/js with its modules beside its files, as in the npm package. BERGAMOT: the unpacked npm package
// @browsermt/bergamot-translator. FOLDER: model.*.alphas.bin, lex.*.bin and vocab.*.spm, of which MODEL.gguf was made.
import {readFile, readdir, mkdtemp, cp, rm, stat, writeFile} from "node:fs/promises";
import {join, resolve} from "node:path";
import {fileURLToPath, pathToFileURL} from "node:url";
import {tmpdir} from "node:os";
import {gzipSync} from "node:zlib";

import {compare, report, startBergamot, startFerry} from "./measure.js";

const [ferry, bergamot, model, folder, text, rounds = "7"] = process.argv.slice(2);
const lines = (await readFile(text, "utf8")).split("\n").slice(0, -1);
const names = await readdir(folder);
const kinds = {model: /alphas\.bin$/, shortlist: /^lex.*\.bin$/, vocab: /\.spm$/};

async function bytes(kind) {
    const whole = await readFile(join(folder, names.find((name) => kinds[kind].test(name))));
    return whole.buffer.slice(whole.byteOffset, whole.byteOffset + whole.length);
}

const scratch = await mkdtemp(join(tmpdir(), "ferry-web-"));
await cp(join(bergamot, "worker"), scratch, {recursive: true}); // not an ES module
await writeFile(join(scratch, "package.json"), "{}");
const found = await compare({
    Ferry: () => startFerry(pathToFileURL(resolve(ferry, "ferry.js")), pathToFileURL(resolve(model))),
    Bergamot: () => startBergamot(join(scratch, "translator-worker.js"), bytes),
}, lines, Number(rounds));
await rm(scratch, {recursive: true});
const {Ferry} = await import(pathToFileURL(resolve(ferry, "ferry.js")));
console.log(`${lines.length} lines, ${rounds} rounds; Node ${process.version}`);
console.log(report(found, ["Ferry", "Bergamot"]).join("\n"));
for (const [name, path] of [["Ferry", fileURLToPath(Ferry.wasm)],
                            ["Bergamot", join(bergamot, "worker/bergamot-translator-worker.wasm")]]) {
    const {size} = await stat(path);
    console.log(`${name}: a module of ${size} bytes, ${gzipSync(await readFile(path), {level: 9}).length} by gzip`);
}
