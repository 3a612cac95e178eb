import { mkdirSync, statSync } from 'node:fs'
import { openBrowser, visitor } from './browser.ts'
import { startProgram } from './program.ts'

/** `npm run screenshots`: the pictures of README, taken in the test network. */
const SHOTS = [
  { name: 'domain', path: '/domain/neglected.test', width: 1280, scheme: 'light', height: 800 },
  { name: 'address', path: '/address/user@accept.test', width: 1280, scheme: 'dark', height: 620 },
] as const
const FOLDER = 'docs/pictures'

mkdirSync(FOLDER, { recursive: true })
const program = await startProgram()
const browser = await openBrowser()
for (const { name, path, width, scheme, height } of SHOTS) {
  const { page, context } = await visitor(browser, { width, scheme }, program.url)
  await page.setViewportSize({ width: 1000, height })
  await page.goto(`${program.url}${path}`)
  await page.waitForSelector('[aria-busy=true]', { state: 'detached', timeout: 60_000 })
  const file = `${FOLDER}/${name}.jpeg`
  await page.evaluate('scrollTo(0, 0); document.activeElement.blur()')
  await page.screenshot({ path: file, type: 'jpeg', quality: 45 })
  console.log(`${file}: ${statSync(file).size} bytes`)
  await context.close()
}
await browser.close()
process.exitCode = await program.stop()
