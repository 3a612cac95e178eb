import { readFile } from 'node:fs/promises'
import type { FastifyInstance } from 'fastify'
import { packageFile } from '../base/packages.ts'
import { fromMemory } from './from-memory.ts'

/** The files of Swagger UI that the page at `/docs/api` needs, with their types. */
const FILES: Readonly<Record<string, string>> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'index.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'swagger-ui-standalone-preset.js': 'text/javascript; charset=utf-8',
  'favicon-32x32.png': 'image/png',
}

const PAGE = `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>mailsonde: the HTTP API</title>
<link rel="stylesheet" href="/docs/static/swagger-ui.css">
<link rel="stylesheet" href="/docs/static/index.css">
<link rel="icon" type="image/png" href="/docs/static/favicon-32x32.png" sizes="32x32">
</head>
<body>
<div id="swagger-ui"></div>
<script src="/docs/static/swagger-ui-bundle.js"></script>
<script src="/docs/static/swagger-ui-standalone-preset.js"></script>
<script src="/docs/static/start.js"></script>
</body>
</html>
`

const START = `window.onload = () => {
  window.ui = SwaggerUIBundle({
    url: '/openapi.json', dom_id: '#swagger-ui', deepLinking: true, layout: 'StandaloneLayout', validatorUrl: null,
    presets: [SwaggerUIBundle.presets.apis, SwaggerUIStandalonePreset], plugins: [SwaggerUIBundle.plugins.DownloadUrl],
  })
}
`

/** `GET /openapi.json` and the page that shows it at `/docs/api`; `document` is created with the first request. Everything is served from memory. */
export function serveDocs(app: FastifyInstance, document: () => unknown): void {
  const text = (type: string, make: () => string) =>
    fromMemory(async () => ({ type: `${type}; charset=utf-8`, body: Buffer.from(make()) }))
  app.get(
    '/openapi.json',
    text('application/json', () => JSON.stringify(document())),
  )
  const page = text('text/html', () => PAGE)
  for (const path of ['/docs/api', '/docs/api/']) app.get(path, { config: { isPage: true } }, page)
  app.get(
    '/docs/static/start.js',
    text('text/javascript', () => START),
  )
  for (const [name, type] of Object.entries(FILES))
    app.get(
      `/docs/static/${name}`,
      fromMemory(async () => ({ type, body: await readFile(packageFile(`@fastify/swagger-ui/static/${name}`)) })),
    )
}
