import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { type Browser, type CDPSession, chromium, type Page } from 'playwright-core'
import { startEmbedded } from '../src/store/postgres/embedded.ts'
import { flags } from './figures.ts'
import { startServing } from './serving.ts'

/**
 * Paging through a list of a million rows: the memory in the browser (the heap of the script, and the private memory of
 * the process), and the time for a page of rows at the beginning, with a filter and at the end. Needs Debian's
 * Chromium, and root for the private database. `node bench/rows.ts --rows 1000000 --pages 100`.
 */
const options = flags(process.argv.slice(2))
const rows = Number(options.rows ?? 1_000_000)
const pages = Number(options.pages ?? 100)

/** A job with a row that causes no query, and that row a million times. */
async function makeJob(url: string, database: string): Promise<string> {
  const headers = { 'content-type': 'text/csv' }
  const made = await fetch(`${url}/v1/jobs?name=A+million+rows`, {
    method: 'POST',
    body: 'name,email\nAnn,a b@c\n',
    headers,
  })
  const { id } = (await made.json()) as { id: string }
  for (let state = ''; state !== 'done'; await new Promise((resolve) => setTimeout(resolve, 200)))
    state = ((await (await fetch(`${url}/v1/jobs/${id}`)).json()) as { state: string }).state
  const client = new Client({ connectionString: database })
  await client.connect()
  await client.query(
    `INSERT INTO mailsonde.job_rows (job, line, input, columns, key, domain, provider, state, result, reason, answer, answered_at)
     SELECT r.job, r.line + n, 'user' || n || '@many.example', jsonb_build_array('Name of ' || n, 'user' || n || '@many.example'), 'k' || n, '', r.provider, 'done',
       CASE WHEN n % 1000 = 0 THEN 'accepted' ELSE r.result END, CASE WHEN n % 1000 = 0 THEN 'mailbox_exists' ELSE r.reason END, r.answer, r.answered_at
     FROM mailsonde.job_rows r, generate_series(1, $2::int) AS n WHERE r.job = (SELECT number FROM mailsonde.jobs WHERE id = $1)`,
    [id, rows - 1],
  )
  // As the intake of a list does.
  await client.query('ANALYZE mailsonde.job_rows')
  await client.query('UPDATE mailsonde.jobs SET rows = $2, received = $2 WHERE id = $1', [id, rows])
  const of = '(SELECT number FROM mailsonde.jobs WHERE id = $1)'
  await client.query(`UPDATE mailsonde.job_providers SET rows = $2, done = $2 WHERE job = ${of}`, [id, rows])
  await client.query(
    `INSERT INTO mailsonde.job_counts (job, provider, result, reason, n) VALUES (${of}, 'many', 'accepted', 'mailbox_exists', $2::int / 1000)`,
    [id, rows],
  )
  await client.end()
  return id
}

const MIB = 1_048_576
type Cost = { readonly heap: number; readonly held: number; readonly resident: number }

/**
 * The heap of the page's script after a garbage collection, and the private memory of its process before and after it,
 * MiB.
 */
async function costOf(browser: Browser, devtools: CDPSession): Promise<Cost> {
  const held = await privateMib(browser)
  await devtools.send('HeapProfiler.collectGarbage')
  const { metrics } = await devtools.send('Performance.getMetrics')
  const heap = metrics.find(({ name }) => name === 'JSHeapUsedSize')?.value ?? 0
  return { heap: heap / MIB, held, resident: await privateMib(browser) }
}

async function privateMib(browser: Browser): Promise<number> {
  const whole = await browser.newBrowserCDPSession()
  const { processInfo } = await whole.send('SystemInfo.getProcessInfo')
  await whole.detach()
  const sizes = processInfo.filter(({ type }) => type === 'renderer').map(({ id }) => privateOf(id))
  return Math.max(...sizes) / MIB
}

function privateOf(pid: number): number {
  const lines = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8').matchAll(/^Private_\w+:\s+(\d+) kB/gm)
  return [...lines].reduce((sum, [, kib]) => sum + Number(kib) * 1_024, 0)
}

/** Follows the link to the next rows, and waits for them. */
async function nextRows(page: Page): Promise<void> {
  const first = page.locator('#turned tbody td').first()
  const before = await first.textContent()
  await page.click('text=Next rows')
  while ((await first.textContent()) === before) await page.waitForTimeout(5)
}

async function timed(page: Page, step: () => Promise<unknown>): Promise<number> {
  const begun = performance.now()
  await step()
  await page.waitForLoadState('load')
  return performance.now() - begun
}

const folder = mkdtempSync(join(tmpdir(), 'mailsonde-rows-'))
chmodSync(folder, 0o711)
const log = { info: () => {}, warn: () => {} }
const server = await startEmbedded({ dataDir: folder, user: 'nobody', log }, AbortSignal.timeout(60_000))
const { user, password, host } = server.connection
const database = `postgres://${user}:${password}@/postgres?host=${encodeURIComponent(host)}`
const args = ['--log-level', 'warn', '--resolver', '127.0.0.1:9', '--rate', '1000000']
const data = ['--data-dir', join(folder, 'service'), '--database-url', database]
const { url, stop } = await startServing(['src/main.js', 'serve', ...args, ...data])
const browser = await chromium.launch({
  executablePath: '/usr/bin/chromium',
  args: ['--no-sandbox', '--headless', '--disable-gpu'],
})
try {
  const id = await makeJob(url, database)
  const page = await browser.newPage()
  const devtools = await page.context().newCDPSession(page)
  await devtools.send('Performance.enable')
  const told = async (what: string, ms: number): Promise<Cost> => {
    const cost = await costOf(browser, devtools)
    console.log(
      `${what}: ${Math.round(ms)} ms, heap ${cost.heap.toFixed(1)} MiB, process ${cost.held.toFixed(1)} MiB, collected ${cost.resident.toFixed(1)} MiB`,
    )
    return cost
  }
  const costs = [await told('first page', await timed(page, () => page.goto(`${url}/jobs/${id}`)))]
  const times: number[] = []
  for (let i = 0; i < pages; i++) {
    times.push(await timed(page, () => nextRows(page)))
    if (i % 20 === 19) costs.push(await told(`page ${i + 2}`, times.at(-1)!))
  }
  costs.push(
    await told('one row in a thousand', await timed(page, () => page.goto(`${url}/jobs/${id}?result=accepted`))),
  )
  costs.push(await told('last page', await timed(page, () => page.goto(`${url}/jobs/${id}?cursor=${rows - 49}`))))
  console.log(`median of a page ${Math.round(times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0)} ms`)
  console.log(
    `at most: process ${Math.max(...costs.map(({ held }) => held)).toFixed(1)} MiB, collected ${Math.max(...costs.map(({ resident }) => resident)).toFixed(1)} MiB (bound: 100)`,
  )
} finally {
  await browser.close()
  await stop()
  await server.stop()
  rmSync(folder, { recursive: true, force: true })
}
