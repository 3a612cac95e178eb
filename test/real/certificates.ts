import { execFile } from 'node:child_process'
import { createHash, X509Certificate } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { CA_FILE, STATE } from './addresses.ts'
import { webHosts } from './https/web.ts'
import type { Listener } from './smtp/listeners.ts'
import { mailServers } from './smtp/other-listeners.ts'

type Wanted = { readonly host: string; readonly kind: NonNullable<Listener['certificate']> }
const FOLDER = `${STATE}/certificates`
const run = promisify(execFile)

/** The file with key and certificate of a host. */
export const certificateFile = (host: string): string => `${FOLDER}/${host}.pem`

/** The hosts that speak TLS, each with the certificate it shows. */
const wanted: readonly Wanted[] = [
  ...mailServers.flatMap((row) => (row.certificate ? [{ host: `mx.${row.domain}`, kind: row.certificate }] : [])),
  ...webHosts.map((row) => ({ host: row.host, kind: row.certificate })),
  { host: 'imap.reports.test', kind: 'good' },
  ...['hooks', 'slack', 'ntfy', 'submit'].map((name) => ({ host: `${name}.notify.test`, kind: 'good' as const })),
]

/** Makes the lab's CA and all certificates, in about a second; the CA's own certificate is {@link CA_FILE}. */
export async function makeCertificates(): Promise<void> {
  mkdirSync(`${FOLDER}/new`, { recursive: true })
  writeFileSync(`${FOLDER}/ca.cnf`, CA_CONFIG)
  writeFileSync(`${FOLDER}/index`, '')
  await selfSigned(`${FOLDER}/ca.key`, CA_FILE, 'Test Network CA', [])
  await Promise.all(wanted.map(make))
}

/** `3 1 1` TLSA data (RFC 6698 §2.1): the SHA-256 of a host's public key. */
export function tlsaOf(host: string): string {
  const key = new X509Certificate(readFileSync(certificateFile(host))).publicKey
  return `3 1 1 ${createHash('sha256')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest('hex')}`
}

const SHORT_KEY = ['-newkey', 'rsa:1024', '-nodes']
const openssl = async (...args: readonly string[]): Promise<void> => void (await run('openssl', args))
const KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']

const selfSigned = (key: string, out: string, name: string, more: readonly string[]) =>
  openssl('req', '-x509', ...KEY, '-keyout', key, '-out', out, '-subj', `/CN=${name}`, '-days', '30', ...more)

async function make({ host, kind }: Wanted): Promise<void> {
  const key = `${FOLDER}/${host}.key`
  const certificate = `${FOLDER}/${host}.crt`
  const name = kind === 'wrong_name' ? 'elsewhere.test' : host
  const names = ['-addext', `subjectAltName=DNS:${name}`]
  if (kind === 'self_signed') await selfSigned(key, certificate, name, names)
  else {
    const request = `${FOLDER}/${host}.csr`
    const made = kind === 'short_key' ? SHORT_KEY : KEY
    await openssl('req', '-new', ...made, '-keyout', key, '-out', request, '-subj', `/CN=${name}`, ...names)
    await openssl(
      'x509',
      '-req',
      '-in',
      request,
      '-out',
      certificate,
      '-CA',
      CA_FILE,
      '-CAkey',
      `${FOLDER}/ca.key`,
      '-copy_extensions',
      'copyall',
      '-days',
      kind === 'expiring' ? '5' : '30',
    )
    if (kind === 'expired') await signExpired(request, certificate)
  }
  writeFileSync(certificateFile(host), readFileSync(key, 'utf8') + readFileSync(certificate, 'utf8'), { mode: 0o600 })
}

/** Only `openssl ca` can date a certificate back; one at a time, since it keeps a database. */
let queue: Promise<void> = Promise.resolve()
const signExpired = (request: string, out: string): Promise<void> =>
  (queue = queue.then(() =>
    openssl(
      'ca',
      '-batch',
      '-notext',
      '-config',
      `${FOLDER}/ca.cnf`,
      '-in',
      request,
      '-out',
      out,
      '-startdate',
      '20190101000000Z',
      '-enddate',
      '20200101000000Z',
    ),
  ))

const CA_CONFIG = `[ca]
default_ca = lab
[lab]
new_certs_dir = ${FOLDER}/new
database = ${FOLDER}/index
rand_serial = yes
certificate = ${CA_FILE}
private_key = ${FOLDER}/ca.key
default_md = sha256
policy = any
copy_extensions = copyall
unique_subject = no
[any]
commonName = supplied
`
