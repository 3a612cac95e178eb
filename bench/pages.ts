import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Browser, chromium } from 'playwright-core'
import { median, report } from './figures.ts'
import type { Figure } from './history.ts'
import { startServing } from './serving.ts'

/**
 * The cost of a first visit to each page in a browser: bytes transferred, and the time to the first contentful paint
 * with the processor slowed down four times, on loopback. Needs Debian's Chromium. `node bench/pages.ts --rounds 5`.
 */
const PATHS = [
  '/',
  '/domain/example.org',
  '/address/joe@example.org',
  '/ip/192.0.2.1',
  '/docs',
  '/docs/operations',
  '/docs/findings',
  '/docs/verification',
]
const rounds = Number(process.argv[process.argv.indexOf('--rounds') + 1]) || 5

type Visit = { readonly paintMs: number; readonly bytes: number }

async function visit(browser: Browser, url: string): Promise<Visit> {
  const context = await browser.newContext({ viewport: { width: 390, height: 844 } })
  const page = await context.newPage()
  const devtools = await context.newCDPSession(page)
  let bytes = 0
  await devtools.send('Network.enable')
  devtools.on('Network.loadingFinished', ({ encodedDataLength }) => {
    bytes += encodedDataLength
  })
  await devtools.send('Emulation.setCPUThrottlingRate', { rate: 4 })
  await page.goto(url)
  await page.waitForTimeout(300)
  const paintMs = await page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0)
  await context.close()
  return { paintMs, bytes }
}

const folder = mkdtempSync(join(tmpdir(), 'mailsonde-pages-'))
/** With a resolver that does not answer: pages are rendered before any query. */
const flags = ['--log-level', 'warn', '--data-dir', folder, '--resolver', '127.0.0.1:9', '--rate', '100000']
const { url, stop } = await startServing(['src/main.js', 'serve', ...flags])
const browser = await chromium.launch({
  executablePath: '/usr/bin/chromium',
  args: ['--no-sandbox', '--headless', '--disable-gpu'],
})
const measured: Figure[] = []
for (const path of PATHS) {
  const visits: Visit[] = []
  for (let i = 0; i < rounds; i++) visits.push(await visit(browser, `${url}${path}`))
  const bytes = Math.max(...visits.map((one) => one.bytes))
  const paintMs = median(visits.map((one) => one.paintMs))
  console.log(`${path.padEnd(28)} ${Math.round(paintMs)} ms, ${bytes} bytes`)
  const figure = { value: paintMs, unit: 'ms', isLessBetter: true } as const
  // The page of an address waits half a second for its names, which do not come here.
  if (path.startsWith('/ip/'))
    measured.push({ what: `first paint of ${path}, with 500 ms for names that do not come`, ...figure })
  else measured.push({ what: `first paint of ${path}, processor slowed by four`, goal: 500, ...figure })
}
report('pages', measured)
await browser.close()
await stop()
rmSync(folder, { recursive: true, force: true })
