# The service in a container: docker build -t mailsonde . && docker run --read-only --tmpfs /tmp -p 127.0.0.1:8080:8080 -v mailsonde:/data mailsonde
FROM node:24-bookworm-slim@sha256:6f7b03f7c2c8e2e784dcf9295400527b9b1270fd37b7e9a7285cf83b6951452d AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY tsconfig.json tsconfig.build.json ./
COPY scripts/bundle.ts scripts/client.ts scripts/client-module.ts scripts/licences.ts scripts/prune-types.ts ./scripts/
COPY scripts/own-files ./scripts/own-files
COPY docs ./docs
COPY src ./src
RUN npm run build && npm prune --omit=dev

FROM node:24-bookworm-slim@sha256:6f7b03f7c2c8e2e784dcf9295400527b9b1270fd37b7e9a7285cf83b6951452d
WORKDIR /app
# The C library gives back what large uploads and messages have left: two arenas, and none of it in them.
ENV NODE_ENV=production MALLOC_ARENA_MAX=2 MALLOC_MMAP_THRESHOLD_=1048576
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
RUN mkdir /data && chown node:node /data
USER node
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s CMD ["node", "dist/main.js", "api", "health", "--server", "http://127.0.0.1:8080"]
# A container's host is not loopback: the first start makes an API key and prints it once.
# Smaller steps of V8's heap: half the memory under load, for some more processor time.
ENTRYPOINT ["node", "--max-semi-space-size=8", "--heap-growing-percent=40", "dist/main.js"]
CMD ["serve", "--host", "0.0.0.0", "--data-dir", "/data"]
