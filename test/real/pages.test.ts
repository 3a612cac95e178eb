import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { axeFinds, type Look, openBrowser, overflow, type Visitor, visitor } from './browser.ts'
import { type Database, startDatabase } from './database.ts'
import { focusOn, keyboardFinds } from './keyboard.ts'
import { type Program, startProgram } from './program.ts'
import { makeShown, PAGES, pathOf, type Shown } from './states.ts'

/** The pages as people see them: Debian's Chromium and the program, in the test network. */
let program: Program
let locked: Program
let browser: Awaited<ReturnType<typeof openBrowser>>
let shown: Shown
let database: Database
beforeAll(async () => {
  database = await startDatabase()
  ;[program, locked, browser] = await Promise.all([
    startProgram(['--database-url', database.url]),
    startProgram(['--api-key', 'a-key-of-the-lab', '--database-url', 'postgres://nobody@127.0.0.1:1/none']),
    openBrowser(),
  ])
  shown = await makeShown(program, database.url)
}, 120_000)
afterAll(async () => {
  await browser?.close()
  await Promise.all([program?.stop(), locked?.stop()])
  await database?.stop()
})

const open = async (look: Look, path: string, at: Program = program): Promise<Visitor> => {
  const one = await visitor(browser, look, at.url)
  await one.page.goto(`${at.url}${path}`)
  if (look.script !== false) await one.page.waitForSelector('[aria-busy=true]', { state: 'detached' })
  return one
}

describe.each(PAGES)('%s', (path, words) => {
  it('at 390 and 1280 px, dark and light, by keyboard alone', async () => {
    const { page, faults, context } = await open({ width: 390, scheme: 'dark' }, pathOf(path, shown))
    expect(await page.textContent('body')).toContain(words)
    expect(await overflow(page)).toBeLessThanOrEqual(0)
    expect(await axeFinds(page)).toEqual([])
    await page.emulateMedia({ colorScheme: 'light' })
    expect(await axeFinds(page, 'color-contrast')).toEqual([])
    await page.setViewportSize({ width: 1280, height: 844 })
    expect(await overflow(page)).toBeLessThanOrEqual(0)
    expect(await axeFinds(page)).toEqual([])
    await page.emulateMedia({ colorScheme: 'dark' })
    expect(await axeFinds(page, 'color-contrast')).toEqual([])
    expect(await keyboardFinds(page)).toEqual([])
    expect(faults).toEqual([])
    await context.close()
  })

  it('without script', async () => {
    const { page, faults, context } = await open({ width: 390, scheme: 'light', script: false }, pathOf(path, shown))
    await page.getByText(words).first().waitFor()
    expect(await overflow(page)).toBeLessThanOrEqual(0)
    expect(faults).toEqual([])
    await context.close()
  })
})

it('the page that asks for a key, and what follows', async () => {
  const { page, faults, context } = await open({ width: 390, scheme: 'dark' }, '/ip/45.53.9.9', locked)
  expect(await page.textContent('h1')).toBe('Log in to continue')
  expect(await axeFinds(page)).toEqual([])
  await page.fill('#key', 'wrong')
  await page.keyboard.press('Enter')
  await page.getByText('This key is unknown').waitFor()
  expect(await axeFinds(page)).toEqual([])
  await page.fill('#key', 'a-key-of-the-lab')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/ip/45.53.9.9')
  // Without a database: what needs it says so, nothing of where it should be, and what works.
  await page.goto(`${locked.url}/jobs`)
  expect(await page.textContent('main')).toContain('can be checked without the database')
  expect(await page.textContent('main')).not.toContain('nobody')
  expect(await axeFinds(page)).toEqual([])
  await page.click('text=Log out')
  await page.waitForURL(`${locked.url}/`)
  expect(faults).toEqual([])
  await context.close()
})

it('from the start to the three things to fix in three actions, by keyboard alone; a record is tried', async () => {
  const { page, faults, context } = await open({ width: 1280, scheme: 'light' }, '/')
  await page.keyboard.type('https://neglected.test/x')
  expect(await page.textContent('#hint')).toContain('neglected.test')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/domain/neglected.test')
  await page.getByText('The path to').waitFor()
  // Evidence is folded, and unfolds where a link leads.
  expect(await page.locator('#dkim').locator('xpath=ancestor::details').getAttribute('open')).toBe(null)
  await page.goto(`${page.url()}#dkim`)
  await page.getByText('Record at default._domainkey').waitFor()
  await focusOn(page, 'details.more > summary')
  await page.keyboard.press('Enter')
  await focusOn(page, 'details.try summary')
  await page.keyboard.press('Enter')
  await page.keyboard.press('Tab') // name
  await page.keyboard.press('Tab') // type
  await page.keyboard.press('Tab') // value
  await page.keyboard.press('Tab') // the button
  await page.keyboard.press('Enter')
  await page.getByText('What would change').waitFor()
  expect(await axeFinds(page)).toEqual([])
  await page.goto(`${program.url}/`)
  expect(await page.textContent('#last')).toContain('neglected.test')
  expect(faults).toEqual([])
  await context.close()
})

it('a list is dropped, shown as it is read, and taken in; a job is paused and deleted', async () => {
  const { page, faults, context } = await open({ width: 1280, scheme: 'dark' }, '/jobs')
  const buffer = Buffer.from('who;contact\n<img src=x onerror=alert(1)>;user@accept.test\nAnn;nobody@accept.test\n')
  await page.setInputFiles('input[type=file]', { name: 'list.csv', mimeType: 'text/csv', buffer })
  await page.getByText('The first rows').waitFor()
  expect(await page.textContent('#preview')).toContain('<img src=x onerror=alert(1)>')
  expect(await axeFinds(page)).toEqual([])
  await page.click('#preview button')
  await page.waitForURL('**/jobs/job_*')
  await page.getByText('user@accept.test').first().waitFor()
  await page.click('text=Delete job and results')
  await page.waitForURL('**/jobs')
  expect(faults).toEqual([])
  await context.close()
})

it('a list is pasted, without script', async () => {
  const { page, faults, context } = await open({ width: 390, scheme: 'light', script: false }, '/jobs')
  await page.click('summary')
  await page.fill('textarea', 'user@accept.test\nnobody@accept.test')
  await page.click('details button')
  await page.getByText('Text with one row per line').waitFor()
  await page.click('text=Start the job')
  await page.waitForURL('**/jobs/job_*')
  expect(await page.textContent('#progress')).toContain('of 2')
  expect(faults).toEqual([])
  await context.close()
})

it('a file is sent, without script', async () => {
  const { page, context } = await open({ width: 390, scheme: 'light', script: false }, '/jobs')
  const buffer = Buffer.from('who;contact\nJoe;user@accept.test\n')
  await page.setInputFiles('input[type=file]', { name: 'list.csv', mimeType: 'text/csv', buffer })
  await page.click('#upload button')
  await page.getByText('CSV with a header').waitFor()
  await context.close()
})

it('a lost connection is shown and resumed', async () => {
  const { page, faults, context } = await open({ width: 1280, scheme: 'light' }, '/')
  let cut = 0
  await context.route('**/events*', (route) => (cut++ === 0 ? route.abort('connectionreset') : route.continue()))
  await page.goto(`${program.url}/domain/healthy.test`)
  await page.getByText('The connection was lost').waitFor()
  await page.waitForSelector('[aria-busy=true]', { state: 'detached' })
  expect([cut > 1, faults]).toEqual([true, []])
  await context.close()
})

it('the progress of a job goes on after its connection was lost', async () => {
  const { page, faults, context } = await open({ width: 1280, scheme: 'light' }, '/')
  let cut = 0
  await context.route('**/events*', (route) => (cut++ === 0 ? route.abort('connectionreset') : route.continue()))
  await page.goto(`${program.url}/jobs/${shown.running}`)
  await page.getByText('The connection was lost').waitFor()
  await page.getByText('Connected again').waitFor()
  expect([cut > 1, faults]).toEqual([true, []])
  await context.close()
})

it('a list is dropped on the start page and taken in; rows by reason', async () => {
  const { page, faults, context } = await open({ width: 390, scheme: 'dark' }, '/')
  await page.evaluate(DROP)
  await page.getByText('rows are IP addresses').waitFor()
  expect(await page.textContent('#preview')).toContain('<img src=x onerror=alert(1)>')
  expect([await overflow(page), await axeFinds(page)]).toEqual([0, []])
  await page.keyboard.press('Enter')
  await page.waitForURL('**/jobs/job_*')
  await page.getByText('45.53.9.9').first().waitFor()
  expect(faults).toEqual([])
  await context.close()
})

/** Drops a file as a hand would; browsers let no test do it by mouse. */
const DROP = `(() => {
  const dropped = new DataTransfer()
  dropped.items.add(new File(['host,ip\\n<img src=x onerror=alert(1)>,45.53.9.9\\n'], 'list.csv', { type: 'text/csv' }))
  document.body.dispatchEvent(new DragEvent('drop', { bubbles: true, cancelable: true, dataTransfer: dropped }))
})()`

it('an answer is stored from its page, opened, and deleted, by keyboard alone', async () => {
  const { page, faults, context } = await open({ width: 1280, scheme: 'light' }, '/ip/45.53.9.9')
  await focusOn(page, '.menu > summary')
  await page.keyboard.press('Enter')
  await focusOn(page, '.menu button')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/r/*')
  expect(await page.textContent('main')).toContain('Stored answer of')
  await focusOn(page, 'button.danger')
  await page.keyboard.press('Space')
  await page.waitForURL(`${program.url}/`)
  expect(faults).toEqual([])
  await context.close()
})

it('a monitor is made from an answer, changed, paused and deleted, by keyboard alone', async () => {
  const { page, faults, context } = await open({ width: 1280, scheme: 'dark' }, '/ip/45.53.9.9')
  await focusOn(page, '.actions a.button')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/monitors?*')
  await focusOn(page, 'main form summary')
  await page.keyboard.press('Enter')
  await focusOn(page, '[name=name]')
  await page.keyboard.type('Ours <b>')
  await focusOn(page, '[name=public]')
  await page.keyboard.press('Space')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/monitors/mon_*')
  expect(await page.textContent('h1')).toBe('Ours <b>')
  await focusOn(page, '#change summary')
  await page.keyboard.press('Enter')
  await focusOn(page, '[name=timezone]')
  await page.keyboard.type('Nowhere')
  await page.keyboard.press('Enter')
  await page.getByText('Not saved').waitFor()
  expect(await axeFinds(page)).toEqual([])
  await focusOn(page, '[action$="/pause"] button')
  await page.keyboard.press('Enter')
  await page.getByText('Paused').first().waitFor()
  await focusOn(page, 'button.danger')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/monitors')
  expect(faults).toEqual([])
  await context.close()
})
