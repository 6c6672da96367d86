// What the page asks for comes from the network, and where there is none, from what was kept (page.js).

async function answer(request) {
    try {
        return await fetch(request);
    } catch (error) {
        const cache = await caches.open("ferry");
        const kept = await cache.match(request, {ignoreSearch: true, ignoreVary: true});
        return kept ?? (request.mode === "navigate" ? await cache.match("./") : undefined) ?? Response.error();
    }
}

addEventListener("install", () => skipWaiting());
addEventListener("activate", (event) => event.waitUntil(clients.claim()));
addEventListener("fetch", (event) => {
    const own = new URL(event.request.url).origin === location.origin;
    if (own && event.request.method === "GET") event.respondWith(answer(event.request));
});
