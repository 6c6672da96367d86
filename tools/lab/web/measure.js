// Measures what translates in JavaScript, in a page or in Node. A system is started by a function, and has
// translate(texts), which is greedy, and close().
const node = globalThis.process?.versions?.node !== undefined;
const Thread = node ? (await import("node:worker_threads")).Worker : Worker;

export async function startFerry(script, model, wasm) {
    const {Ferry} = await import(script);
    const ferry = await Ferry.load(model, {wasm});
    return {translate: (texts) => ferry.translate(texts, {beam: 1}), close: () => ferry.close()};
}

/** A thread with call(name, …values): its messages have an id, and are answered by {id, result} or {id, error}. */
function start(script, options) {
    const thread = new Thread(script, options), waiting = new Map();
    let next = 0;
    const receive = ({id, result, error}) => {
        const {resolve, reject} = waiting.get(id);
        if (error !== undefined) reject(new Error(error.message));
        else resolve(result);
    };
    const fail = ({message}) => waiting.forEach(({reject}) => reject(new Error(message)));
    if (node) thread.on("message", receive).on("error", fail);
    else Object.assign(thread, {onmessage: (event) => receive(event.data), onerror: fail});
    return {
        call: (name, ...values) => new Promise((resolve, reject) => {
            waiting.set(++next, {resolve, reject});
            thread.postMessage({id: next, name, args: values});
        }),
        end: () => thread.terminate(),
    };
}

/** Its worker, without the page's part of its package; bytes(kind) gives "model", "shortlist" or "vocab", an ArrayBuffer. */
export async function startBergamot(script, bytes) {
    const {call, end} = start(script);
    const pair = {from: "a", to: "b"};
    await call("initialize", {cacheSize: 0, useNativeIntGemm: false});
    const [model, shortlist, vocab] = await Promise.all(["model", "shortlist", "vocab"].map(bytes));
    await call("loadTranslationModel", pair, {model, shortlist, vocabs: [vocab]});
    return {
        async translate(texts) {
            const made = await call("translate", {models: [pair], texts: texts.map((text) => ({text}))});
            return made.map(({target}) => target.text);
        },
        close: end,
    };
}

/** Transformers.js, in a page. */
export async function startTransformers(script) {
    const {call, end} = start(script, {type: "module"});
    await call("load");
    return {translate: (texts) => call("translate", texts), close: end};
}

async function timed(work) {
    const begin = performance.now(), value = await work();
    return [performance.now() - begin, value];
}

/** Times in ms, {what: {name: [of each round]}}, and {name: translations}; systems take turns. */
export async function compare(starts, lines, rounds) {
    const times = {}, texts = {};
    const note = (name, what, time) => ((times[what] ??= {})[name] ??= []).push(time);
    for (let round = 0; round < rounds; round++) {
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
    return {times, texts};
}

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

/** Lines about two systems: medians, and the median of the quotients. */
export function report({times, texts}, [first, second]) {
    const rows = Object.entries(times).map(([what, {[first]: ours, [second]: theirs}]) => {
        const quotient = median(theirs.map((time, i) => time / ours[i]));
        return `${what}: ${first} ${median(ours).toFixed(0)} ms, ${second} ${median(theirs).toFixed(0)} ms, ${quotient.toFixed(2)} times as fast`;
    });
    const same = texts[first].filter((text, i) => text === texts[second][i]).length;
    return [...rows, `${same} of ${texts[first].length} translations are the same`];
}
