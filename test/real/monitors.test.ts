import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from 'pg'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { monitorAnswer, monitorRunAnswer } from '../../src/answers/monitors.ts'
import { monitorEvent } from '../../src/answers/webhooks.ts'
import { submission } from '../../src/net/submit-mail.ts'
import { CA_FILE, FAR_RESOLVER, WATCHED_SERVERS } from './addresses.ts'
import { withDrop } from './delay/delay.ts'
import { deny, publish, type Watched } from './dns/watched.ts'
import { type DebianPostgres, debianPostgres } from './postgres.ts'
import { type Clock, drivenClock, type Program, startProgram } from './program.ts'
import { forgetAnswers, withLists } from './rbl/servers.ts'
import { type Received, startReceiver } from './receiver.ts'
import { mailOf, SUBMISSION_HOST, SUBMITTER, startSubmission } from './smtp/submission.ts'

/**
 * A domain that is watched while its records, its listings and its name servers change and break: every message that
 * comes, and no other.
 */
const DOCUMENT = join(import.meta.dirname, '../../docs/monitors.md')
/** `Mon 09:00` of the first week of March 2026, which begins with Monday the 2nd. */
const at = (time: string): number => {
  const day = 2 + ['Mon', 'Tue', 'Wed'].indexOf(time.slice(0, 3))
  return Date.parse(`2026-03-0${day}T${time.slice(4)}:05Z`)
}
const FROM = 'watch@notify.test'
const LOGIN = `${encodeURIComponent(SUBMITTER.user)}:${encodeURIComponent(SUBMITTER.password)}`

let postgres: DebianPostgres
let database: Client
let endSubmission: () => void
let receiver: Awaited<ReturnType<typeof startReceiver>>
let program: Program
let clock: Clock
let monitor: { readonly id: string; readonly secret: string }
beforeAll(async () => {
  clock = drivenClock(at('Mon 09:00'))
  const [made, receiving, submitting] = await Promise.all([
    debianPostgres('45.53.3.91'),
    startReceiver(),
    startSubmission(),
    publish(WELL),
  ])
  postgres = made
  receiver = receiving
  endSubmission = submitting
  database = new Client({ connectionString: postgres.url })
  await database.connect()
  const flags = [
    ...['--database-url', postgres.url, '--resolver', FAR_RESOLVER, '--trust-ad'],
    ...['--smtp-url', `smtp://${LOGIN}@${SUBMISSION_HOST}:587`, '--notify-from', FROM],
    ...['--public-url', 'https://watch.notify.test', '--mail-recipients', 'inbox.test'],
  ]
  program = await startProgram(flags, clock)
}, 60_000)
afterAll(async () => {
  await program?.stop()
  await database?.end()
  endSubmission?.()
  receiver?.close()
  await postgres?.kill()
})

const WELL: Watched = {
  mx: 'mx.accept.test',
  spf: 'v=spf1 mx include:accept.test -all',
  dmarc: 'v=DMARC1; p=reject; rua=mailto:dmarc@watched.test',
}
const HOST = '45.53.5.1'
const on = (...zones: readonly string[]) =>
  Object.fromEntries(
    zones.map((zone) => [zone, { kind: 'entries' as const, entries: [{ address: HOST, codes: [2], text: 'spam' }] }]),
  )

/** For what is to come: more than a busy machine takes. */
const WAIT_MS = 60_000
vi.setConfig({ testTimeout: 240_000 })

type Told = { readonly title: string; readonly lines: readonly string[]; readonly count: number }
/** What came since it was asked last: the same message by every way, each once. */
let seen = { posts: 0, mails: 0 }
async function arrived(): Promise<readonly Told[]> {
  const waiting = 'SELECT count(*)::int AS n FROM mailsonde.deliveries WHERE state = $1'
  const count = async (state: string): Promise<number> => (await database.query(waiting, [state])).rows[0].n
  await expect.poll(() => count('pending'), { timeout: WAIT_MS, interval: 50 }).toBe(0)
  const sent = await count('delivered')
  await expect
    .poll(() => receiver.received.length + mailOf('user').length, { timeout: WAIT_MS, interval: 50 })
    .toBe(sent)
  const posts = receiver.received.slice(seen.posts)
  const mails = mailOf('user').slice(seen.mails)
  seen = { posts: receiver.received.length, mails: mailOf('user').length }
  const events = posts
    .filter(({ host }) => host.startsWith('hooks'))
    .map(({ body }) => monitorEvent.parse(JSON.parse(body)))
  expect(mails.map((mail) => unfolded(/^Subject: (.*(?:\n[ \t].*)*)/m.exec(mail)?.[1] ?? ''))).toEqual(
    events.map(({ data }) => data.title),
  )
  expect(posts.filter(({ host }) => !host.startsWith('hooks'))).toHaveLength(2 * events.length)
  return events.map(({ data: { title, lines, count: changes } }) => ({ title, lines, count: changes }))
}
const unfolded = (text: string): string => text.replace(/\n[ \t]/g, ' ')

async function runAt(time: string, isSent = true): Promise<readonly Told[]> {
  await clock.set(at(time))
  const { status, body } = await program.post(`/v1/monitors/${monitor.id}/run`, { wait: true })
  expect([status, body]).toEqual([200, expect.anything()])
  monitorRunAnswer.parse(body)
  return isSent ? arrived() : []
}

/** What happened, by the time of day, and what was told: the story that the document shows. */
const story: { readonly time: string; readonly what: string; readonly told: readonly Told[] }[] = []
async function step(time: string, what: string): Promise<readonly string[]> {
  const told = await runAt(time)
  story.push({ time, what, told })
  return told.map(({ title }) => title.replace('watched.test: ', ''))
}

it('a monitor is made; its first run tells nothing', async () => {
  const { status, body } = await program.post('/v1/monitors', {
    kind: 'report',
    target: 'watched.test',
    every: '1h',
    when: ['changed', 'listed', 'score_below:80'],
    options: { timeout: '8s' },
    notify: [
      { type: 'webhook', url: 'https://hooks.notify.test/mail' },
      { type: 'mail', to: 'user@inbox.test' },
      { type: 'slack', url: 'https://slack.notify.test/services/T0/B0/secret' },
      { type: 'ntfy', url: 'https://ntfy.notify.test/our-mail', token: 'tk_secret' },
    ],
  })
  expect([status, body]).toEqual([201, expect.anything()])
  const made = monitorAnswer.parse(body)
  const [hook] = made.notify
  if (hook?.type !== 'webhook' || hook.secret === undefined) throw new Error('no secret was told')
  monitor = { id: made.id, secret: hook.secret }
  await expect
    .poll(async () => monitorAnswer.parse((await program.get(`/v1/monitors/${made.id}`)).body).last?.status, {
      timeout: WAIT_MS,
    })
    .toBe('pass')
  expect(await arrived()).toEqual([])
  story.push({ time: 'Mon 09:00', what: 'the monitor is created', told: [] })
  expect.soft(await step('Mon 10:00', 'nothing has changed')).toEqual([])
})

it('a record that is edited, one that is gone and comes back', async () => {
  await publish({ ...WELL, spf: 'v=spf1 mx ~all' })
  expect(await step('Mon 11:00', 'the SPF record loses an include and ends in `~all`')).toEqual(['SPF changed'])
  await publish({ mx: 'mx.accept.test', spf: 'v=spf1 mx ~all' })
  expect(await step('Mon 12:00', 'the DMARC record is removed')).toEqual(['score 66 is below the limit of 80'])
  await publish(WELL)
  expect(await step('Mon 13:00', 'both records are restored')).toEqual(['score 99 is no longer below the limit of 80'])
  expect(await step('Mon 14:00', 'nothing has changed')).toEqual([])
})

it('a listing, another, and the end of both', async () => {
  await withLists(on('bl.spamcop.net'), async () => {
    expect(await step('Mon 15:00', `${HOST} is listed`)).toEqual([`on a blacklist: ${HOST} on SpamCop`])
    expect(await step('Mon 16:00', 'it is still listed')).toEqual([])
  })
  await withLists(on('bl.spamcop.net', 'psbl.surriel.com'), async () => {
    expect(await step('Mon 17:00', 'a second list contains it too')).toEqual(['score 79 is below the limit of 80'])
  })
  expect(await step('Mon 18:00', 'both lists have removed it')).toEqual(['no longer on any blacklist'])
})

const NOT_CHECKED = 'the mail setup could not be checked 3 times in a row'
const patience = (timeout: string) => program.patch(`/v1/monitors/${monitor.id}`, { options: { timeout } })
it('name servers that are dead, and there again', async () => {
  await patience('1s')
  await withDrop(WATCHED_SERVERS, async () => {
    await publish(WELL)
    expect(await step('Mon 19:00', 'its name servers do not answer')).toEqual([])
    expect(await step('Mon 19:15', 'still')).toEqual([])
    expect(await step('Mon 19:30', 'still')).toEqual([NOT_CHECKED])
    expect(await step('Mon 19:45', 'still')).toEqual([])
  })
  await patience('8s')
  await publish({ ...WELL, dkim: false })
  const back = 'they answer again; meanwhile the DKIM key was removed'
  expect(await step('Mon 20:45', back)).toEqual(['score 79 is below the limit of 80'])
  await publish(WELL)
  expect(await step('Mon 21:45', 'the DKIM key is back')).toEqual(['score 99 is no longer below the limit of 80'])
})

it('a resolver that is away: what needs it for its way waits, and comes once', async () => {
  await patience('1s')
  await withDrop([FAR_RESOLVER], async () => {
    for (const time of ['Tue 09:00', 'Tue 09:15', 'Tue 09:30']) {
      await runAt(time, false)
      story.push({ time, what: 'the resolver of the service does not answer', told: [] })
    }
    const isMailed = () => mailOf('user').length === seen.mails + 1
    // the submission server is found without it
    await expect.poll(isMailed, { timeout: WAIT_MS, interval: 50 }).toBe(true)
    // Two attempts of each have failed, and none is under way: the third is due five minutes later.
    const early = `SELECT count(*)::int AS n FROM mailsonde.deliveries WHERE state = 'pending' AND (tries < 2 OR leased_until > '-infinity')`
    await expect.poll(async () => (await database.query(early)).rows[0].n, { timeout: WAIT_MS }).toBe(0)
    expect(receiver.received).toHaveLength(seen.posts)
  })
  await patience('8s')
  await forgetAnswers()
  await clock.set(at('Tue 09:36'))
  const told = await arrived()
  story.push({ time: 'Tue 09:36', what: 'it answers again', told })
  expect(told.map(({ title }) => title)).toEqual([`watched.test: ${NOT_CHECKED}`])
  expect(await step('Tue 10:30', 'the next run')).toEqual(['can be checked again'])
})

it('a change that flaps is told at most once an hour, as it is then', async () => {
  const other = { ...WELL, mx: 'mx.exim.test' }
  const told: (readonly string[])[] = []
  for (const [n, time] of ['12:00', '12:15', '12:30', '12:45', '12:55', '13:15'].entries()) {
    await publish(n % 2 === 0 ? other : WELL)
    told.push(await step(`Tue ${time}`, n % 2 === 0 ? 'the MX record names mx.exim.test' : 'it names mx.accept.test'))
  }
  expect(told).toEqual([['SPF, MX changed'], [], [], [], [], ['SPF, MX changed']])
  expect(await step('Tue 15:00', 'nothing has changed')).toEqual([])
})

it('a domain that no longer exists, and exists again', async () => {
  await deny(true)
  expect(await step('Wed 09:00', 'the domain does not exist')).toEqual(['the domain no longer exists'])
  expect(await step('Wed 10:00', 'still')).toEqual([])
  await deny(false)
  expect(await step('Wed 11:00', 'it exists again')).toEqual(['the domain exists again'])
})

it('a message about a test says so, to everybody, and the link of a mail ends the mail', async () => {
  await clock.set(at('Wed 12:00'))
  const { body } = await program.post(`/v1/monitors/${monitor.id}/test`, {})
  expect(body).toMatchObject({ sent: ['webhook', 'mail', 'slack', 'ntfy'].map((type) => ({ type, ok: true })) })
  await expect.poll(() => mailOf('user').length, { timeout: WAIT_MS }).toBe(seen.mails + 1)
  expect(receiver.received.slice(seen.posts).map(({ body: text }) => text.includes('this is a test'))).toEqual([
    true,
    true,
    true,
  ])
  const unsubscribe = /<https:\/\/watch\.notify\.test([^>]+)>/.exec(mailOf('user')[0]!)![1]!
  expect((await program.post(unsubscribe, undefined)).body).toEqual({ unsubscribed: true })
  seen = { posts: receiver.received.length, mails: mailOf('user').length }
  await publish({ ...WELL, spf: 'v=spf1 mx ~all' })
  await runAt('Wed 13:00', false)
  await expect.poll(() => receiver.received.length, { timeout: WAIT_MS }).toBe(seen.posts + 3)
  expect(mailOf('user')).toHaveLength(seen.mails)
})

it('every message to the webhook is signed, as npm’s standardwebhooks reads it, and has an id of its own', () => {
  const hooks = receiver.received.filter(({ host }) => host.startsWith('hooks'))
  try {
    for (const { headers, body } of hooks) {
      vi.useFakeTimers({ toFake: ['Date'], now: Number(headers['webhook-timestamp']) * 1_000 })
      expect(new Webhook(monitor.secret).verify(body, headers)).toMatchObject({ data: { monitor: { id: monitor.id } } })
    }
  } finally {
    vi.useRealTimers()
  }
  expect(new Set(hooks.map(({ headers }) => headers['webhook-id'])).size).toBe(hooks.length)
})

it('mail goes through the submission server by STARTTLS and by TLS from the start, after AUTH alone', async () => {
  const [mail] = mailOf('user')
  // ESMTPSA: taken over TLS after AUTH (RFC 3848).
  expect(mail).toMatch(/by submit\.notify\.test \(Postfix\) with ESMTPSA id/)
  expect(mail).toMatch(/^List-Unsubscribe-Post: List-Unsubscribe=One-Click$/m)
  const ca = [readFileSync(CA_FILE, 'utf8')]
  const send = (url: string, from = FROM) =>
    submission({ url, from, ca }).send(
      { to: 'postmaster@inbox.test', subject: 'a line', text: 'text\n', headers: {} },
      AbortSignal.timeout(10_000),
    )
  await send(`smtps://${LOGIN}@${SUBMISSION_HOST}`)
  await expect.poll(() => mailOf('postmaster').length, { timeout: WAIT_MS }).toBe(1)
  await expect(send(`smtp://watch%40notify.test:wrong@${SUBMISSION_HOST}`)).rejects.toMatchObject({
    name: 'MailError',
    isFinal: false,
  })
  await expect(send(`smtp://${SUBMISSION_HOST}`)).rejects.toMatchObject({
    message: expect.stringContaining('rejected'),
    isFinal: true,
  })
  await expect(send(`smtp://${LOGIN}@${SUBMISSION_HOST}`, 'other@notify.test')).rejects.toMatchObject({ isFinal: true })
})

const decoded = (head: string, text: string): string =>
  /quoted-printable/i.test(head)
    ? text
        .replace(/=\n/g, '')
        .replace(/((?:=[0-9A-F]{2})+)/g, (hex) => Buffer.from(hex.replaceAll('=', ''), 'hex').toString())
    : text
/** Ids and signatures are others each time. */
const plain = (text: string): string =>
  text
    .replaceAll(/(mon|msg)_[\w-]{22}/g, '$1_…')
    .replace(/v1,[\w+/=]+/, 'v1,…')
    .replace(/(webhook-timestamp: )\d+/, '$1…')
    .replaceAll(/:\d\d\.\d{3}Z/g, ':05.000Z')
const block = (text: string): string => `\`\`\`\n${plain(text).trim()}\n\`\`\``
function document(): string {
  const by = (host: string): Received => receiver.received.find((one) => one.host.startsWith(host))!
  const hook = by('hooks')
  const wanted = ['from', 'to', 'subject', 'list-unsubscribe', 'list-unsubscribe-post', 'auto-submitted']
  const [head] = mailOf('user')[0]!.split('\n\n', 1)
  const fields = head!
    .replace(/\n\s+/g, ' ')
    .split('\n')
    .filter((line) => wanted.includes(line.split(':')[0]!.toLowerCase()))
  const rows = story.map(({ time, what, told }) => {
    const said = told.map(({ title, lines }) =>
      [`**${title}**`, ...lines].map((line) => line.replaceAll('|', '\\|')).join('<br>'),
    )
    return `| ${time} | ${what} | ${said.join('<br>') || '–'} |`
  })
  return [
    '| | what happens | message: title, then lines |',
    '|---|---|---|',
    ...rows,
    '',
    'The first message as the webhook received it:',
    block(
      [
        `POST ${hook.path}`,
        ...['content-type', 'webhook-id', 'webhook-timestamp', 'webhook-signature'].map(
          (name) => `${name}: ${hook.headers[name]}`,
        ),
        '',
        JSON.stringify(JSON.parse(hook.body), null, 2),
      ].join('\n'),
    ),
    'by mail (quoted-printable decoded):',
    block([...fields, '', decoded(head!, mailOf('user')[0]!.slice(head!.length)).trim()].join('\n')),
    'to Slack:',
    block(by('slack').body),
    'to ntfy:',
    block(by('ntfy').body),
  ].join('\n')
}

it('the messages are in the document as they came', () => {
  const [begin, end] = [
    '<!-- messages: `MESSAGES=write npm run test:real -- monitors` writes them -->\n',
    '\n<!-- end of messages -->',
  ]
  const text = readFileSync(DOCUMENT, 'utf8')
  const [from, to] = [text.indexOf(begin) + begin.length, text.indexOf(end)]
  const made = document()
  if (process.env.MESSAGES === 'write') writeFileSync(DOCUMENT, text.slice(0, from) + made + text.slice(to))
  else expect(text.slice(from, to)).toBe(made)
})
