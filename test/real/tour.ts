import { mkdirSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { type Look, openBrowser, visitor } from './browser.ts'
import { startDatabase } from './database.ts'
import { type Program, startProgram } from './program.ts'
import { makeShown, PAGES, pathOf } from './states.ts'

/** `npm run tour -- FOLDER [WORD]`: pictures of every page and state (whose name has the word), at both widths, light and dark, to be looked at. */
const [folder = 'tour', word = ''] = process.argv.slice(2)

type Stop = {
  readonly name: string
  readonly path: string
  readonly at?: Program
  readonly act?: (page: Page) => Promise<void>
}
const LOOKS: readonly Look[] = [
  { width: 390, scheme: 'dark' },
  { width: 1280, scheme: 'light' },
]

mkdirSync(folder, { recursive: true })
const database = await startDatabase()
const program = await startProgram(['--database-url', database.url])
const locked = await startProgram(['--api-key', 'a-key-of-the-lab'])
const bare = await startProgram(['--database-url', 'postgres://nobody@127.0.0.1:1/none'])
const shown = await makeShown(program, database.url)
const browser = await openBrowser()

const LIST = 'who;contact\n"Müller, Ann";user@accept.test\nBob;nobody@accept.test\nbroken\n'
const STOPS: readonly Stop[] = [
  ...PAGES.map(([path]) => ({
    name: path.replaceAll(/\W+/g, '-').replace(/^-|-$/g, '') || 'start',
    path: pathOf(path, shown),
  })),
  { name: 'address-rejected', path: '/address/nobody@accept.test' },
  { name: 'address-grey', path: '/address/user@grey.test' },
  { name: 'address-blocked-pool', path: '/address/user@rcpt.test?pool=true' },
  { name: 'address-invalid', path: '/address/joe@@x' },
  { name: 'ip-clean', path: '/ip/45.53.1.1' },
  { name: 'ip-private', path: '/ip/10.0.0.1' },
  { name: 'domain-manylookups', path: '/domain/manylookups.test' },
  { name: 'domain-parked', path: '/domain/parked.test' },
  { name: 'domain-servfail', path: '/domain/servfail.test' },
  { name: 'domain-listed', path: '/domain/listed.test' },
  { name: 'jobs-empty', path: '/jobs', at: bare },
  { name: 'monitors-without-database', path: '/monitors', at: bare },
  { name: 'login', path: '/login', at: locked },
  { name: 'locked-start', path: '/', at: locked },
  { name: 'locked-domain', path: '/domain/neglected.test', at: locked },
  { name: 'job-filtered', path: `/jobs/${shown.job}?result=rejected` },
  {
    name: 'start-typed',
    path: '/',
    act: async (page) => {
      await page.fill('#q', '"Joe" <joe@example.org>')
    },
  },
  {
    name: 'jobs-preview',
    path: '/jobs',
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
    name: 'try',
    path: '/domain/neglected.test',
    act: async (page) => {
      await page.click('details.try summary')
      await page.click('details[open].try button')
      await page.getByText('What would change').waitFor()
    },
  },
  {
    name: 'asking',
    path: '/',
    act: async (page) => {
      await page.context().route('**/events*', () => {})
      await page.fill('#q', 'tls.test')
      await page.keyboard.press('Enter')
      await page.waitForSelector('.places')
    },
  },
  {
    name: 'lost',
    path: '/',
    act: async (page) => {
      await page.context().route('**/events*', (route) => route.abort('connectionreset'))
      await page.fill('#q', 'tls.test')
      await page.keyboard.press('Enter')
      await page.getByText('The connection was lost').waitFor()
    },
  },
]

for (const { name, path, at = program, act } of STOPS.filter((stop) => stop.name.includes(word)))
  for (const look of LOOKS) {
    const { page, context, faults } = await visitor(browser, look, at.url)
    try {
      await page.goto(`${at.url}${path}`)
      await page.waitForSelector('[aria-busy=true]', { state: 'detached', timeout: 60_000 })
      await act?.(page)
      await shoot(page, `${folder}/${name}-${look.width}`)
    } catch (error) {
      console.error(`${name}: ${error instanceof Error ? error.message : error}`)
    }
    if (faults.length > 0) console.error(`${name}: ${faults.join('; ')}`)
    await context.close()
  }
await browser.close()
await Promise.all([program, locked, bare].map((one) => one.stop()))
await database.stop()

/** A picture of the whole page, in pieces that can be looked at. */
async function shoot(page: Page, file: string): Promise<void> {
  const { width, height } = await page.evaluate(() => {
    const { document } = globalThis as unknown as {
      document: { documentElement: { scrollWidth: number; scrollHeight: number } }
    }
    const { scrollWidth, scrollHeight } = document.documentElement
    return { width: scrollWidth, height: scrollHeight }
  })
  const piece = width > 500 ? 1_500 : 1_700
  for (let y = 0, n = 0; y < height && n < 12; y += piece, n++) {
    const clip = { x: 0, y, width, height: Math.min(piece, height - y) }
    await page.screenshot({ path: `${file}${n === 0 ? '' : `-${n + 1}`}.png`, fullPage: true, clip })
  }
}
