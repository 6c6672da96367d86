// A text beside its translation, and which words of them belong together.

const segmenter = new Intl.Segmenter(undefined, {granularity: "word"});

/** Makes a text the content of a place, each word an element. Of each position of the text, its word or undefined. */
function show(text, place) {
    const content = [], owners = [];
    for (const {segment, index, isWordLike} of segmenter.segment(text)) {
        if (!isWordLike) {
            content.push(segment);
            continue;
        }
        const word = document.createElement("span");
        word.textContent = segment;
        content.push(word);
        owners.length = index + segment.length;
        owners.fill(word, index);
    }
    place.replaceChildren(...content, "\n"); // so that an empty line at the end is a line
    return owners;
}

export class Texts {
    #text; // the source as it is shown
    #source = []; // of each position, its word
    #partners = new Map(); // of each word, those of the other text
    #lit = [];

    /** `source` and `translation`: where they are shown. */
    constructor(source, translation) {
        this.places = [source, translation];
    }

    /** `pairs`: what belongs together, as Ferry.explain says it. */
    show(source, translation, pairs) {
        this.light(undefined);
        if (source !== this.#text) this.#source = show(source, this.places[0]);
        this.#text = source;
        const target = show(translation, this.places[1]);
        this.#partners.clear();
        for (const [a, b, c, d] of pairs)
            for (const from of new Set(this.#source.slice(a, b)))
                for (const to of new Set(target.slice(c, d)))
                    if (from !== undefined && to !== undefined) {
                        this.#join(from, to);
                        this.#join(to, from);
                    }
    }

    #join(word, partner) {
        if (!this.#partners.has(word)) this.#partners.set(word, new Set());
        this.#partners.get(word).add(partner);
    }

    /** The word of the source in front of which, in which or behind which a position is. */
    at(position) {
        return this.#source[position] ?? this.#source[position - 1];
    }

    /** Lights up a word and its partners, and nothing else; says them: "station – Bahnhof". */
    light(word) {
        const partners = [...this.#partners.get(word) ?? []];
        for (const each of this.#lit) each.classList.remove("lit");
        this.#lit = partners.length === 0 ? [] : [word, ...partners];
        for (const each of this.#lit) each.classList.add("lit");
        return this.#lit.length === 0 ? "" : `${word.textContent} – ${partners.map((each) => each.textContent).join(" ")}`;
    }
}
