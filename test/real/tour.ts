import { mkdirSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { openBrowser, visitor } from './browser.ts'
import { startDatabase } from './database.ts'
import { documents, STATES, type State, startServices } from './page-states.ts'
import { makeShown, PAGES, pathOf } from './states.ts'

/**
 * `npm run tour -- FOLDER [PATTERN]`: pictures of every page and state (whose name matches), at both widths, light and
 * dark, to be looked at.
 */
const [folder = 'tour', pattern = ''] = process.argv.slice(2)
const WIDTHS = [390, 1280] as const
const SCHEMES = ['light', 'dark'] as const

mkdirSync(folder, { recursive: true })
const database = await startDatabase()
const services = await startServices(database.url)
const { program } = services
const shown = await makeShown(program, database.url)
const browser = await openBrowser()

const named = (path: string): string => path.replaceAll(/\W+/g, '-').replace(/^-|-$/g, '') || 'start'
const pages = [...new Set([...PAGES.map(([path]) => path), ...(await documents(program))])]
const stops: readonly Omit<State, 'words'>[] = [
  ...pages.map((path) => ({ name: named(path), path })),
  { name: 'docs-api', path: '/docs/api' },
  ...STATES,
]

for (const { name, path, at = 'program', act } of stops.filter((stop) => new RegExp(pattern).test(stop.name))) {
  const { url } = services[at]
  const { page, context, faults } = await visitor(browser, { width: 390, scheme: 'light' }, url)
  try {
    await page.goto(`${url}${pathOf(path, shown)}`)
    await page.waitForSelector('[aria-busy=true]', { state: 'detached', timeout: 60_000 })
    await act?.(page)
    await page.waitForTimeout(100)
    for (const width of WIDTHS)
      for (const colorScheme of SCHEMES) {
        await page.setViewportSize({ width, height: 844 })
        await page.emulateMedia({ colorScheme })
        await shoot(page, `${folder}/${name}-${width}-${colorScheme}`)
      }
  } catch (error) {
    console.error(`${name}: ${error instanceof Error ? error.message : error}`)
  }
  if (faults.length > 0) console.error(`${name}: ${faults.join('; ')}`)
  await context.close()
}
await browser.close()
await services.stop()
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
