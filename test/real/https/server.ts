import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'
import { certificateFile } from '../certificates.ts'
import { type PolicyHost, policyHosts } from './hosts.ts'

/** Opens the policy hosts on port 443; resolves when all listen. They end with the process. */
export const startHttps = async (): Promise<void> => {
  await Promise.all(policyHosts.map(listen))
}

const listen = (row: PolicyHost) =>
  new Promise<void>((resolve, reject) => {
    const pem = readFileSync(certificateFile(`mta-sts.${row.domain}`))
    const server = createServer({ cert: pem, key: pem }, row.serve)
    server.on('tlsClientError', () => {})
    server.once('error', reject)
    server.listen(443, row.address, resolve)
  })
