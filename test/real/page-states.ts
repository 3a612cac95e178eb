import { createTransport } from 'nodemailer'
import type { Page } from 'playwright-core'
import { startReceiving } from '../../src/mail-in/receive.ts'
import { parseDomain } from '../../src/names/domain.ts'
import { analyseMessage } from '../../src/operations/message/analysis.ts'
import { allOperations } from '../../src/operations/registry.ts'
import { openSite } from '../../src/start/pages.ts'
import { labApp, labDeps, labExecutor, labKey } from '../lab/app.ts'
import { LAB_KEY as DKIM_KEY, signed } from '../lab/messages.ts'
import { labWorld } from '../lab/world.ts'
import { type Program, startProgram } from './program.ts'

/** States of pages that need more than their path: a refusal, a form that was filled in, a connection that was lost. */

export type ServiceName = 'program' | 'locked' | 'bare' | 'stopping' | 'busy' | 'limited' | 'reader' | 'inbox'
type Service = Pick<Program, 'url'>
export type Services = Readonly<Record<ServiceName, Service>> & {
  readonly program: Program
  readonly stop: () => Promise<void>
}

/**
 * The program in the ways that it can be run, and services that refuse. `locked` asks for a key, `bare` has no
 * database, of `reader` the visitor has a key that may only read, and `inbox` takes messages.
 */
export async function startServices(databaseUrl: string): Promise<Services> {
  const nowhere = ['--database-url', 'postgres://nobody@127.0.0.1:1/none']
  const programs = await Promise.all([
    startProgram(['--database-url', databaseUrl]),
    startProgram(['--api-key', LAB_KEY, ...nowhere]),
    startProgram(nowhere),
  ])
  const apps = await Promise.all([
    refusing({ draining: () => true }),
    refusing({ maxConcurrency: 0 }),
    refusing({ ratePerMinute: 1 }),
    refusing({ keys: () => [labKey(READ_KEY, ['read'])] }),
    inboxService(),
  ])
  const [program, locked, bare] = programs
  const [stopping, busy, limited, reader, inbox] = apps
  const stop = async (): Promise<void> => {
    await Promise.all([...programs, ...apps].map((one) => one.stop()))
  }
  return { program, locked, bare, stopping, busy, limited, reader, inbox, stop }
}

export const LAB_KEY = 'a-key-of-the-lab'
const READ_KEY = 'a-key-that-reads'

async function refusing(options: Parameters<typeof labApp>[1]) {
  const world = labWorld()
  const operations = await allOperations()
  const site = openSite({ operations, world, version: '0.0.0', execute: labExecutor(world, labDeps(world)) })
  const app = await labApp(world, { site, operations, ...options })
  return { url: await app.listen({ host: '127.0.0.1', port: 0 }), stop: () => app.close() }
}

const INBOX = 'inbox.example.org'
/** The port at which the service `inbox` takes messages, once it runs. */
let inboxPort = 0

/**
 * A service that takes messages for one-time addresses over SMTP, and knows the domain that {@link sendTo} writes as.
 */
async function inboxService() {
  const world = labWorld({
    'example.org': { MX: [[10, 'mail.example.org']], TXT: ['v=spf1 ip4:127.0.0.0/8 -all'] },
    'mail.example.org': { A: ['45.53.1.1'] },
    'a._domainkey.example.org': { TXT: [DKIM_KEY] },
    '_dmarc.example.org': { TXT: ['v=DMARC1; p=reject'] },
  })
  const deps = labDeps(world)
  const { inbox } = deps.messages
  const domain = parseDomain(INBOX)
  if (!domain.ok) throw new Error(INBOX)
  inbox.open(domain.value)
  const operations = await allOperations()
  const execute = labExecutor(world, deps)
  const site = openSite({ operations, world, version: '0.0.0', execute, canReceive: inbox.isOpen })
  const app = await labApp(world, { site, operations, deps })
  const server = await startReceiving({
    ...{ listen: '127.0.0.1:0', domain: INBOX, maxOctets: 100_000, world, inbox, lmtp: false },
    analyse: (raw, envelope, onRead) =>
      analyseMessage({ ...world, signal: AbortSignal.timeout(20_000) }, deps, raw, {
        envelope,
        onRead,
        by: { caller: 'mail' },
      }),
  })
  inboxPort = server.port!
  return {
    url: await app.listen({ host: '127.0.0.1', port: 0 }),
    stop: async () => {
      await server.close()
      await app.close()
    },
  }
}

/** Sends a signed message to an address of the service `inbox`. */
async function sendTo(address: string): Promise<void> {
  const text = `From: Joe <joe@example.org>
To: ${address}
Subject: Minutes
Date: Mon, 23 Nov 2026 09:00:00 +0000
Message-ID: <1@example.org>
MIME-Version: 1.0
Content-Type: text/plain; charset=utf-8

Hello.
`
  const transport = createTransport({ host: '127.0.0.1', port: inboxPort, ignoreTLS: true })
  await transport.sendMail({
    envelope: { from: 'joe@example.org', to: address },
    raw: signed(text, { domain: 'example.org' }),
  })
  transport.close()
}

export type State = {
  readonly name: string
  /** With the names of what it shows in capitals, as in states.ts. */
  readonly path: string
  /** What the state must show. */
  readonly words: string
  readonly at?: ServiceName
  /** What the visitor does once the page is there. */
  readonly act?: (page: Page) => Promise<unknown>
  /** It can be reached without script, too. */
  readonly plain?: true
  /** Another answer of a page that is tested: for pictures alone. */
  readonly picture?: true
}

const LIST = 'who;contact\n"Müller, Ann";user@accept.test\nBob;nobody@accept.test\nbroken\n'
const NOTHING = 'A'.repeat(22)

export const STATES: readonly State[] = [
  // What a question can have for an answer.
  { name: 'address-rejected', path: '/address/nobody@accept.test', words: 'nobody@accept.test', picture: true },
  { name: 'address-grey', path: '/address/user@grey.test', words: 'user@grey.test', picture: true },
  { name: 'address-blocked-pool', path: '/address/user@rcpt.test?pool=true', words: 'user@rcpt.test', picture: true },
  { name: 'address-invalid', path: '/address/joe@@x', words: 'joe@@x', plain: true },
  { name: 'ip-clean', path: '/ip/45.53.1.1', words: '45.53.1.1', picture: true },
  { name: 'ip-private', path: '/ip/10.0.0.1', words: 'Not a public address' },
  { name: 'ip-invalid', path: '/ip/300.1.1.1', words: 'Not an IP address', plain: true },
  { name: 'domain-manylookups', path: '/domain/manylookups.test', words: 'All checks', picture: true },
  { name: 'domain-parked', path: '/domain/parked.test', words: 'All checks', picture: true },
  { name: 'domain-servfail', path: '/domain/servfail.test', words: 'All checks', picture: true },
  { name: 'domain-listed', path: '/domain/listed.test', words: 'All checks', picture: true },
  { name: 'domain-tls', path: '/domain/tls.test?only=tls', words: 'All checks', picture: true },
  { name: 'domain-vantage', path: '/domain/tls.test?vantage=all', words: 'All checks', picture: true },
  // While it is asked.
  {
    name: 'asking',
    path: '/',
    words: 'Querying the DNS',
    act: async (page) => {
      await page.context().route('**/events*', () => {})
      await askFor(page, 'tls.test')
      await page.waitForSelector('.places')
    },
  },
  {
    name: 'lost',
    path: '/',
    words: 'The connection was lost',
    act: async (page) => {
      await page.context().route('**/events*', (route) => route.abort('connectionreset'))
      await askFor(page, 'expired.test')
      await page.getByText('The connection was lost').waitFor()
    },
  },
  {
    name: 'from-elsewhere',
    path: '/',
    words: 'You followed a link from another site',
    act: async (page) => {
      const to = `${new URL(page.url()).origin}/domain/healthy.test`
      await page.goto(`data:text/html,<a href="${to}">there</a>`)
      await page.click('a')
      await page.getByText('You followed a link').waitFor()
    },
    plain: true,
  },
  // Forms.
  {
    name: 'start-typed',
    path: '/',
    words: 'A mail address',
    act: (page) => page.fill('#q', '"Joe" <joe@example.org>'),
    picture: true,
  },
  { name: 'start-list', path: '/', words: 'Paste a list', act: (page) => page.click('.list > summary'), plain: true },
  {
    name: 'jobs-preview',
    path: '/jobs',
    words: 'The first rows',
    act: async (page) => {
      await page.setInputFiles('input[type=file]', {
        name: 'list.csv',
        mimeType: 'text/csv',
        buffer: Buffer.from(LIST),
      })
      await page.getByText('The first rows').waitFor()
    },
  },
  {
    name: 'jobs-unreadable',
    path: '/jobs',
    words: 'cannot be read',
    act: async (page) => {
      await page.setInputFiles('input[type=file]', {
        name: 'list.csv',
        mimeType: 'text/csv',
        buffer: Buffer.from('who;contact\n'),
      })
      await page.getByText('list.csv cannot be read').waitFor()
    },
  },
  {
    name: 'jobs-pasted',
    path: '/jobs',
    words: 'Preview of the list',
    act: async (page) => {
      await page.click('#drop summary')
      await page.fill('textarea', LIST)
      await page.click('details button')
      await page.getByText('The first rows').waitFor()
    },
    plain: true,
  },
  { name: 'jobs-next', path: '/jobs/JOB?cursor=20', words: 'First rows', plain: true },
  { name: 'job-filtered', path: '/jobs/JOB?result=accepted', words: 'No row matches' },
  { name: 'job-missing', path: `/jobs/job_${NOTHING}`, words: 'Not found', picture: true },
  {
    name: 'try',
    path: '/domain/neglected.test',
    words: 'What would change',
    act: async (page) => {
      await page.click('details.more > summary')
      await page.click('details.try summary')
      await page.click('details[open].try button')
      await page.getByText('What would change').waitFor()
    },
  },
  {
    name: 'try-refused',
    path: '/domain/neglected.test?wait=true',
    words: 'Not tried',
    act: async (page) => {
      await page.click('details.more > summary')
      await page.click('details.try summary')
      await page.fill('details[open].try [name=name]', 'not a name')
      await page.click('details[open].try button')
      await page.getByText('Not tried').waitFor()
    },
    plain: true,
  },
  {
    name: 'monitor-edit',
    path: '/monitors/MONITOR',
    words: 'Save changes',
    act: (page) => page.click('#change summary'),
    plain: true,
  },
  {
    name: 'monitor-refused',
    path: '/monitors/MONITOR',
    words: 'Not saved',
    act: async (page) => {
      await page.click('#change summary')
      await page.fill('[name=timezone]', 'Nowhere')
      await page.click('#change button')
      await page.getByText('Not saved').waitFor()
    },
    plain: true,
  },
  {
    name: 'monitors-refused',
    path: '/monitors',
    words: 'Not saved',
    act: async (page) => {
      await page.fill('[name=target]', 'not a domain')
      await page.click('form[action="/monitors#add"] button')
      await page.getByText('Not saved').waitFor()
    },
    plain: true,
  },
  {
    name: 'monitor-created',
    path: '/monitors',
    words: 'Secret of the webhook',
    act: createWithWebhook,
    plain: true,
  },
  {
    name: 'monitor-tested',
    path: '/monitors',
    words: 'Test messages',
    act: async (page) => {
      await createWithWebhook(page)
      await page.click('text=Go to the monitor')
      await page.click('text=Send a test message')
      await page.getByText('Back to the monitor').waitFor()
    },
  },
  { name: 'monitor-asked', path: '/monitors/MONITOR?asked=run', words: 'The monitor is running' },
  { name: 'monitor-missing', path: `/monitors/mon_${NOTHING}`, words: 'Not found', picture: true },
  // A message to a one-time address.
  { name: 'message-form', path: '/message', words: 'Send it to a one-time address', at: 'inbox', plain: true },
  {
    name: 'message-waiting',
    path: '/message',
    words: 'None has come in yet',
    at: 'inbox',
    act: newAddress,
    plain: true,
  },
  {
    name: 'message-received',
    path: '/message',
    words: 'DMARC passes for example.org',
    at: 'inbox',
    act: async (page) => {
      await sendTo(await newAddress(page))
      await page.getByText('DMARC passes for example.org').waitFor()
    },
  },
  { name: 'stored-missing', path: `/r/${NOTHING}`, words: 'Not found' },
  // A service that refuses.
  { name: 'login', path: '/login', words: 'API key', at: 'locked', plain: true },
  { name: 'locked-start', path: '/', words: 'This service requires a key', at: 'locked' },
  { name: 'locked', path: '/domain/neglected.test', words: 'Log in to continue', at: 'locked' },
  {
    name: 'login-wrong',
    path: '/login',
    words: 'This key is unknown',
    at: 'locked',
    act: (page) => logIn(page, 'wrong'),
    plain: true,
  },
  {
    name: 'forbidden',
    path: '/login?to=/jobs',
    words: 'needs the scope',
    at: 'reader',
    act: (page) => logIn(page, READ_KEY),
    plain: true,
  },
  { name: 'no-database-jobs', path: '/jobs', words: 'without the database', at: 'bare', plain: true },
  { name: 'no-database-job', path: `/jobs/job_${NOTHING}`, words: 'without the database', at: 'bare', picture: true },
  { name: 'no-database-monitors', path: '/monitors', words: 'without the database', at: 'bare' },
  { name: 'no-database-stored', path: `/r/${NOTHING}`, words: 'without the database', at: 'bare' },
  { name: 'stopping', path: '/domain/neglected.test', words: 'The service is stopping', at: 'stopping', plain: true },
  { name: 'busy', path: '/domain/neglected.test', words: 'The service is busy', at: 'busy', plain: true },
  {
    name: 'limited',
    path: '/',
    words: 'Too many requests',
    at: 'limited',
    act: async (page) => {
      await page.reload()
      await page.getByText('Too many requests').waitFor()
    },
    plain: true,
  },
]

/** Asks for a one-time address; the page then waits for its message. */
async function newAddress(page: Page): Promise<string> {
  await page.click('text=Send it to a one-time address')
  await page.waitForURL('**/message/msg_*')
  return (await page.textContent('#progress pre')) ?? ''
}

/** A monitor with a webhook of its own, whose secret is shown once. */
async function createWithWebhook(page: Page): Promise<void> {
  await page.fill('[name=target]', 'healthy.test')
  await page.click('form[action="/monitors#add"] summary')
  await page.fill('[name=webhook]', `https://hooks.notify.test/${Math.round(performance.now())}`)
  await page.click('form[action="/monitors#add"] button')
  await page.getByText('Go to the monitor').waitFor()
}

async function askFor(page: Page, what: string): Promise<void> {
  await page.fill('#q', what)
  await page.keyboard.press('Enter')
}

async function logIn(page: Page, key: string): Promise<void> {
  await page.fill('#key', key)
  await Promise.all([page.waitForEvent('load'), page.keyboard.press('Enter')])
}

/** Paths of the documents, from their index. */
export async function documents(program: Pick<Program, 'get'>): Promise<readonly string[]> {
  const index = String((await program.get('/docs')).body)
  const paths = [...index.matchAll(/href="(\/docs\/[^"#]+)"/g)].map(([, path]) => path!)
  return [...new Set(paths)].filter((path) => path !== '/docs/api')
}
