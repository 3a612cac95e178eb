import { Client } from 'pg'
import { aggregateReport } from '../lab/report-xml.ts'
import type { Program } from './program.ts'

/** What the pages show: a job that is done, one that runs, a monitor with a history, stored answers. */
export type Shown = {
  readonly job: string
  readonly running: string
  readonly monitor: string
  readonly stored: string
  readonly storedAddress: string
}

/** Path with the names of what it shows in capitals, and words that it must show. */
export type PageRow = readonly [path: string, words: string]
export const PAGES: readonly PageRow[] = [
  ['/', 'Check the mail setup of a domain'],
  ['/go?q=nothing+of+the+kind', 'Not understood'],
  ['/domain/neglected.test', 'The path to'],
  ['/domain/healthy.test?only=check', 'All checks'],
  ['/domain/missing.test', 'missing.test'],
  ['/domain/x', 'Not a domain name'],
  ['/address/user@accept.test', 'accept.test'],
  ['/ip/45.53.9.9', '45.53.9.9'],
  ['/jobs', 'A list'],
  ['/jobs/JOB', 'Row 1'],
  ['/jobs/RUNNING', 'Pause'],
  ['/monitors', 'Add a monitor'],
  ['/monitors/MONITOR', 'What changed'],
  ['/monitors/digest', 'Digests'],
  ['/accepted', 'Accepted findings'],
  ['/r/STORED', 'Stored answer of'],
  ['/r/ADDRESS', 'Stored answer of'],
  ['/sources', 'Source addresses'],
  ['/blacklists', 'Blacklists'],
  ['/nodes', 'Nodes'],
  ['/message', 'message'],
  ['/message/msg_unknown', 'Not found'],
  ['/reports', 'Reports'],
  ['/reports/neglected.test', 'neglected.test'],
  ['/reports/providers?senders=all', 'Mailchimp'],
  ['/docs', 'Documents'],
  ['/docs/operations', 'Documents'],
  ['/docs/api', 'API'],
  ['/docs/api/', 'API'],
  ['/docs/api/domains', 'curl'],
  ['/nowhere', 'Not found'],
]

export const pathOf = (path: string, shown: Shown): string =>
  path
    .replace('JOB', shown.job)
    .replace('RUNNING', shown.running)
    .replace('MONITOR', shown.monitor)
    .replace('STORED', shown.stored)
    .replace('ADDRESS', shown.storedAddress)

/**
 * Asks once for what the pages show, so that the lists were tested and answers are cached, and makes what they list.
 */
export async function makeShown(program: Program, databaseUrl: string): Promise<Shown> {
  const [report, address] = await Promise.all([
    program.get('/v1/report?domain=neglected.test&save=true'),
    program.get('/v1/verify?email=user@accept.test&save=true'),
    program.get('/v1/blacklist?ip=45.53.9.9'),
  ])
  await reported(program)
  const [job, running, monitor] = await Promise.all([
    submitted(program, 'A list', `${rows(60, 'accept.test')}=cmd(),<b>x</b>@accept.test\n`, 'done'),
    submitted(program, 'Greylisted', `name,email\n${row(1, 'accept.test')}Ann,user@tempfail.test\n`, 'running'),
    watched(program, databaseUrl),
  ])
  return { job, running, monitor, stored: savedId(report.body), storedAddress: savedId(address.body) }
}

/** A report about neglected.test: its own host, a newsletter, a stranger. */
async function reported(program: Program): Promise<void> {
  const domain = 'neglected.test'
  const body = aggregateReport({
    domain,
    rows: [
      { address: '45.53.8.2', count: 4_200, spf: 'pass', dkim: 'pass', signatures: [{ domain, selector: 'default' }] },
      {
        address: '198.2.128.9',
        count: 90,
        envelope: 'mail.mcsv.net',
        signatures: [{ domain: 'mcsv.net', selector: 'k2' }],
      },
      { address: '45.53.9.9', count: 40 },
    ],
  })
  const taken = await fetch(`${program.url}/v1/reports`, { method: 'POST', body })
  if (taken.status !== 200) throw new Error(`the report was not taken: ${await taken.text()}`)
}

const row = (i: number, domain: string): string => `Row ${i},user${i}@${domain}\n`
const rows = (n: number, domain: string): string =>
  `name,email\n${Array.from({ length: n }, (_, i) => row(i, domain)).join('')}`

const savedId = (body: unknown): string => (body as { saved: { id: string } }).saved.id

async function submitted(program: Program, name: string, body: string, wanted: string): Promise<string> {
  const made = await fetch(`${program.url}/v1/jobs?name=${encodeURIComponent(name)}`, {
    method: 'POST',
    body,
    headers: { 'content-type': 'text/csv' },
  })
  const { id, detail } = (await made.json()) as { id: string; detail?: string }
  if (made.status !== 202) throw new Error(`the job was not taken: ${detail}`)
  const until = performance.now() + 60_000
  const state = async () => ((await program.get(`/v1/jobs/${id}`)).body as { state: string }).state
  while ((await state()) !== wanted && performance.now() < until)
    await new Promise((resolve) => setTimeout(resolve, 250))
  return id
}

/** A monitor that ran once, with a year of points before that. */
async function watched(program: Program, databaseUrl: string): Promise<string> {
  const input = {
    kind: 'report',
    target: 'neglected.test',
    name: 'Our neglected domain',
    every: '1d',
    when: ['changed', 'listed', 'score_below:80'],
    notify: [],
    quiet_hours: { from: '22:00', to: '07:00', timezone: 'Europe/Berlin' },
    public: true,
  }
  const made = await program.post('/v1/monitors', input)
  const { id } = made.body as { id: string }
  if (made.status !== 201) throw new Error(`the monitor was not made: ${JSON.stringify(made.body)}`)
  await program.post(`/v1/monitors/${id}/run?wait=true`, {})
  await addPoints(databaseUrl, id)
  return id
}

async function addPoints(url: string, id: string): Promise<void> {
  const client = new Client({ connectionString: url })
  await client.connect()
  const changes = [
    { id: 'score', area: 'Score', effect: 'worse', text: '97 → 64' },
    { id: 'dmarc.policy', area: 'DMARC', effect: 'worse', text: 'p=reject → p=none' },
  ]
  await client.query(
    `INSERT INTO mailsonde.monitor_points (monitor, at, status, score, listed, reason, changes)
     SELECT number, now() - n * interval '1 day', CASE WHEN n > 60 THEN 'pass' ELSE 'fail' END,
       CASE WHEN n % 91 = 0 THEN NULL WHEN n > 60 THEN 97 ELSE 64 END, CASE WHEN n BETWEEN 20 AND 25 THEN 1 ELSE 0 END,
       CASE WHEN n % 91 = 0 THEN 'DNS: time-out' END, CASE WHEN n IN (20, 26, 60) THEN $2::jsonb END
     FROM mailsonde.monitors, generate_series(1, 365) AS n WHERE id = $1`,
    [id, JSON.stringify(changes)],
  )
  await client.end()
}
