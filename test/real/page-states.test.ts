import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { allOperations } from '../../src/operations/registry.ts'
import { openSite } from '../../src/start/pages.ts'
import { labDeps, labExecutor } from '../lab/app.ts'
import { labWorld } from '../lab/world.ts'
import { axeFinds, type Look, openBrowser, overflow, type Visitor, visitor } from './browser.ts'
import { type Database, startDatabase } from './database.ts'
import { keyboardFinds } from './keyboard.ts'
import { documents, type Services, STATES, type State, startServices } from './page-states.ts'
import { makeShown, PAGES, pathOf, type Shown } from './states.ts'

/**
 * Pages in the states that their path alone does not give: forms that were filled in, refusals, a service that stops,
 * is busy, or has no database.
 */
let services: Services
let database: Database
let browser: Awaited<ReturnType<typeof openBrowser>>
let shown: Shown
beforeAll(async () => {
  database = await startDatabase()
  ;[services, browser] = await Promise.all([startServices(database.url), openBrowser()])
  shown = await makeShown(services.program, database.url)
}, 120_000)
afterAll(async () => {
  await browser?.close()
  await services?.stop()
  await database?.stop()
})

const TESTED = STATES.filter(({ picture }) => !picture)

async function reach({ path, at = 'program', act }: State, look: Look): Promise<Visitor> {
  const { url } = services[at]
  const one = await visitor(browser, look, url)
  await one.page.goto(`${url}${pathOf(path, shown)}`)
  await act?.(one.page)
  return one
}

describe.each(TESTED)('$name', (state) => {
  it('at 390 and 1280 px, dark and light, by keyboard alone', async () => {
    const { page, faults, context } = await reach(state, { width: 390, scheme: 'dark' })
    await expect.poll(() => page.textContent('body'), { timeout: 5_000 }).toContain(state.words)
    expect(await overflow(page)).toBeLessThanOrEqual(0)
    expect(await axeFinds(page)).toEqual([])
    await page.emulateMedia({ colorScheme: 'light' })
    await page.setViewportSize({ width: 1280, height: 844 })
    expect(await overflow(page)).toBeLessThanOrEqual(0)
    expect(await axeFinds(page)).toEqual([])
    expect(await keyboardFinds(page)).toEqual([])
    expect(faults).toEqual([])
    await context.close()
  })
})

describe.each(TESTED.filter(({ plain }) => plain))('$name, without script', (state) => {
  it('shows the same', async () => {
    const { page, faults, context } = await reach(state, { width: 390, scheme: 'light', script: false })
    await page.getByText(state.words).first().waitFor()
    expect(await overflow(page)).toBeLessThanOrEqual(0)
    expect(faults).toEqual([])
    await context.close()
  })
})

/** Documents with tables of all widths, code and lists: all are written by the same renderer. */
const AXE = ['/docs/config', '/docs/checks/spf']

it('every document fits a phone, and some pass axe', async () => {
  const { program } = services
  const { page, faults, context } = await visitor(browser, { width: 390, scheme: 'light', script: false }, program.url)
  for (const path of await documents(program)) {
    await page.goto(`${program.url}${path}`)
    expect([path, await overflow(page)]).toEqual([path, 0])
  }
  expect(faults).toEqual([])
  await context.close()
  const seen = await visitor(browser, { width: 390, scheme: 'dark' }, program.url)
  for (const path of AXE) {
    await seen.page.goto(`${program.url}${path}`)
    expect([path, await axeFinds(seen.page)]).toEqual([path, []])
  }
  expect(seen.faults).toEqual([])
  await seen.context.close()
}, 60_000)

it('every page is among those that are looked at', async () => {
  const world = labWorld()
  const operations = await allOperations()
  const { pages } = openSite({ operations, world, version: '0.0.0', execute: labExecutor(world, labDeps(world)) })
  const looked = [
    ...PAGES.map(([path]) => path),
    ...STATES.map(({ path }) => path),
    ...(await documents(services.program)),
  ]
  const paths = looked.map((path) => path.split('?')[0]!)
  const missing = pages
    // Events and what comes after a page are read by script, and a result that is opened again leads to its domain.
    .filter(({ method, path }) => method === 'GET' && !/\/(?:events|names|try)$/.test(path))
    .filter(({ path }) => !paths.some((one) => new RegExp(`^${path.replaceAll(/:\w+/g, '[^/]+')}$`).test(one)))
  expect(missing.map(({ path }) => path)).toEqual([])
})
