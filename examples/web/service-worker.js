// What the page asks for comes from the network, and where there is none, from what was kept (page.js).

async function answer(request) {
    const cache = await caches.open("ferry");
    try {
        const response = await fetch(request);
        if (response.ok) await cache.put(request, response.clone());
        return response;
    } catch (error) {
        return await cache.match(request) ?? Response.error();
    }
}

addEventListener("install", () => skipWaiting());
addEventListener("activate", (event) => event.waitUntil(clients.claim()));
addEventListener("fetch", (event) => {
    const own = new URL(event.request.url).origin === location.origin;
    if (own && event.request.method === "GET") event.respondWith(answer(event.request));
});
