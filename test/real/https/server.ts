import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'
import { certificateFile } from '../certificates.ts'
import type { WebHost } from './policy-hosts.ts'
import { webHosts } from './web.ts'

/** Opens all hosts that speak HTTPS, on port 443; resolves when all listen. They end with the process. */
export const startHttps = async (): Promise<void> => {
  await Promise.all(webHosts.map(listen))
}

const listen = (row: WebHost) =>
  new Promise<void>((resolve, reject) => {
    const pem = readFileSync(certificateFile(row.host))
    const server = createServer({ cert: pem, key: pem }, row.serve)
    server.on('tlsClientError', () => {})
    server.once('error', reject)
    server.listen(443, row.address, resolve)
  })
