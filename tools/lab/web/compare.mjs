// Ferry beside Bergamot in WebAssembly, both in this Node, on the same Firefox model and lines, alternating:
//
//     node compare.mjs FERRY BERGAMOT MODEL.gguf FOLDER LINES [ROUNDS]
//
// FERRY: bindings/js with ferry.wasm beside its files, as in the npm package. BERGAMOT: the unpacked npm package
// @browsermt/bergamot-translator. FOLDER: model.*.alphas.bin, lex.*.bin and vocab.*.spm, of which MODEL.gguf was made.
// Both run in a worker and translate greedily. Times in ms: the median of the rounds, and that of the quotients.
import {readFile, readdir, mkdtemp, cp, stat, writeFile} from "node:fs/promises";
import {join, resolve} from "node:path";
import {pathToFileURL} from "node:url";
import {tmpdir} from "node:os";
import {gzipSync} from "node:zlib";
import {Worker} from "node:worker_threads";

const [ferryFolder, bergamotFolder, ferryModel, modelFolder, linesPath, rounds = "7"] = process.argv.slice(2);
const lines = (await readFile(linesPath, "utf8")).split("\n").slice(0, -1);

async function startFerry() {
    const {Ferry} = await import(pathToFileURL(resolve(ferryFolder, "ferry.js")));
    const ferry = await Ferry.load(pathToFileURL(resolve(ferryModel)));
    return {
        translate: (texts) => ferry.translate(texts, {beam: 1}),
        memory: () => ferry.memory(),
        close: () => ferry.close(),
    };
}

/** Its worker, which speaks of ids, names and arguments, without the page's part of the package. */
async function startBergamot() {
    const scratch = await mkdtemp(join(tmpdir(), "ferry-web-"));
    await cp(join(bergamotFolder, "worker"), scratch, {recursive: true}); // not an ES module
    await writeFile(join(scratch, "package.json"), "{}");
    const worker = new Worker(join(scratch, "translator-worker.js"));
    const waiting = new Map();
    let next = 0;
    worker.on("message", ({id, result, error}) => {
        const {resolve, reject} = waiting.get(id);
        if (error !== undefined) reject(new Error(error.message));
        else resolve(result);
    });
    const call = (name, ...args) => new Promise((resolve, reject) => {
        waiting.set(++next, {resolve, reject});
        worker.postMessage({id: next, name, args});
    });
    const names = await readdir(modelFolder);
    const file = async (pattern) => {
        const bytes = await readFile(join(modelFolder, names.find((name) => pattern.test(name))));
        return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
    };
    await call("initialize", {cacheSize: 0, useNativeIntGemm: false});
    const [model, shortlist, vocab] = await Promise.all([file(/alphas\.bin$/), file(/^lex.*\.bin$/), file(/\.spm$/)]);
    await call("loadTranslationModel", {from: "a", to: "b"}, {model, shortlist, vocabs: [vocab]});
    return {
        async translate(texts) {
            const made = await call("translate", {models: [{from: "a", to: "b"}], texts: texts.map((text) => ({text}))});
            return made.map(({target}) => target.text);
        },
        close: () => worker.terminate(),
    };
}

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
const timed = async (work) => {
    const begin = performance.now();
    const value = await work();
    return [performance.now() - begin, value];
};

const starts = {ferry: startFerry, bergamot: startBergamot};
const times = {};
const note = (name, what, time) => ((times[what] ??= {})[name] ??= []).push(time);
const texts = {};
for (let round = 0; round < Number(rounds); round++) {
    for (const name of Object.keys(starts)) {
        const [load, system] = await timed(starts[name]);
        note(name, "load", load);
        const [first] = await timed(() => system.translate(lines)); // while code is being compiled again, for speed
        note(name, "first batch", first);
        const [batch, translated] = await timed(() => system.translate(lines));
        note(name, "batch", batch);
        const [single] = await timed(async () => {
            for (const line of lines) await system.translate([line]);
        });
        note(name, "line by line", single);
        texts[name] = translated;
        await system.close();
    }
}
console.log(`${lines.length} lines, ${rounds} rounds; Node ${process.version}`);
for (const [what, {ferry, bergamot}] of Object.entries(times)) {
    const quotient = median(bergamot.map((time, i) => time / ferry[i]));
    console.log(`${what}: Ferry ${median(ferry).toFixed(0)} ms, Bergamot ${median(bergamot).toFixed(0)} ms, ${quotient.toFixed(2)} times as fast`);
}
const same = texts.ferry.filter((text, i) => text === texts.bergamot[i]).length;
console.log(`${same} of ${lines.length} translations are the same`);
for (const [name, path] of [["Ferry", join(ferryFolder, "ferry.wasm")],
                            ["Bergamot", join(bergamotFolder, "worker/bergamot-translator-worker.wasm")]]) {
    const {size} = await stat(path);
    console.log(`${name}: a module of ${size} bytes, ${gzipSync(await readFile(path), {level: 9}).length} by gzip`);
}
