import compress from '@fastify/compress'
import rateLimit from '@fastify/rate-limit'
import fastify, { LogController } from 'fastify'
import helmet from 'helmet'
import { pino } from 'pino'

/** The server to compare with: fastify with the same plugins and one route, `node bench/bare-fastify.ts --port N`. */
const app = fastify({
  loggerInstance: pino({ level: 'silent' }),
  logController: new LogController({ disableRequestLogging: true }),
})
const setHeaders = helmet({ hsts: false })
app.addHook('onRequest', (request, reply, done) => setHeaders(request.raw, reply.raw, () => done()))
await app.register(compress, { threshold: 1_024, encodings: ['br', 'gzip'] })
await app.register(rateLimit, { global: false, cache: 10_000 })
app.get('/v1/health', async () => ({ status: 'ok' }))
await app.listen({ host: '127.0.0.1', port: Number(process.argv.at(-1)) })
process.once('SIGTERM', () => process.exit(0))
