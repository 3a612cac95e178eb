import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { isDeepStrictEqual } from 'node:util'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { formatHtml } from '../../src/documents/html/html.ts'
import { labDocuments } from '../lab/documents.ts'

/** Every document as a page in a browser: what axe finds, and whether it is wider than the screen. */
const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium'
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const hasBrowser = existsSync(CHROMIUM)
if (!hasBrowser) console.warn(`SKIPPED: there is no browser at ${CHROMIUM}; the pages of documents are not looked at`)

const VIOLATIONS = `axe.run().then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes[0].html]))`
const BEYOND = 'document.documentElement.scrollWidth - window.innerWidth'

const all = Object.entries(await labDocuments())
/** Those of pause, resume and the like are the job's own. */
const documents = all.filter(([, one], i) => all.findIndex(([, other]) => isDeepStrictEqual(one, other)) === i)
/** Those that have every kind of block. */
const some = documents.filter(([name]) =>
  ['pictures', 'check-many-lookups', 'verify-failed-over', 'blacklist-listed', 'jobs-show', 'pool'].includes(name),
)
let browser: Browser | undefined
beforeAll(async () => {
  if (!hasBrowser) return
  browser = await chromium.launch({
    executablePath: CHROMIUM,
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update'],
  })
})
afterAll(() => browser?.close())

describe.skipIf(!hasBrowser).each([
  [390, 'dark', some],
  [1280, 'light', documents],
] as const)('%i pixels, %s', (width, colorScheme, shown) => {
  let page: Page
  beforeAll(async () => {
    page = await browser!.newPage({ viewport: { width, height: 900 }, colorScheme, bypassCSP: true })
  })
  afterAll(() => page?.close())

  it.each(shown)('%s', async (_, document) => {
    await page.setContent(formatHtml(document))
    await page.evaluate(AXE)
    expect(await page.evaluate(VIOLATIONS)).toEqual([])
    expect(await page.evaluate(BEYOND)).toBeLessThanOrEqual(0)
  })
})
