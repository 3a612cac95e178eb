import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'
import { createSecureContext } from 'node:tls'
import { RECEIVER } from './addresses.ts'
import { certificateFile } from './certificates.ts'

/** A request that came to a receiver of messages. */
export type Received = {
  readonly host: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/**
 * Takes what is posted to hooks, slack and ntfy.notify.test over HTTPS, and answers 200. `received` grows; `close` ends
 * it.
 */
export async function startReceiver(): Promise<{ readonly received: Received[]; readonly close: () => void }> {
  const received: Received[] = []
  const contexts = new Map(
    ['hooks', 'slack', 'ntfy'].map((name) => {
      const pem = readFileSync(certificateFile(`${name}.notify.test`))
      return [`${name}.notify.test`, createSecureContext({ cert: pem, key: pem })]
    }),
  )
  const server = createServer(
    { SNICallback: (name, done) => done(null, contexts.get(name)) },
    async (request, response) => {
      let body = ''
      for await (const chunk of request.setEncoding('utf8')) body += chunk
      const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]))
      received.push({ host: headers.host ?? '', path: request.url ?? '', headers, body })
      response.writeHead(200).end()
    },
  )
  server.on('tlsClientError', () => {})
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(443, RECEIVER, resolve))
  return { received, close: () => void server.close() }
}
