import { expect, it } from 'vitest'
import { violations } from './layers.ts'

type Files = Readonly<Record<string, string>>
const importing = (target: string): string => `import { x } from '${target}'\n`

it.each<[string, Files, string | undefined]>([
  ['an import downwards', { 'operations/a.ts': importing('../peers/b.ts') }, undefined],
  ['an import over several rows', { 'start/a.ts': importing('../base/b.ts') }, undefined],
  ['main.js imports everything', { 'main.js': importing('./start/b.ts') }, undefined],
  ['an import upwards', { 'peers/a.ts': importing('../operations/b.ts') }, 'imports go down only'],
  ['an import on the same row', { 'score/a.ts': importing('../peers/b.ts') }, 'imports go down only'],
  ['config above the modules that have none', { 'config.ts': importing('./peers/b.ts') }, 'imports go down only'],
  ['a type upwards', { 'base/a.ts': "import type { X } from '../names/b.ts'\n" }, 'imports go down only'],
  ['over several lines', { 'net/a.ts': "import {\n  x,\n  y,\n} from '../world.ts'\n" }, 'imports go down only'],
  ['an export upwards', { 'net/a.ts': "export { x } from '../checks/b.ts'\n" }, 'imports go down only'],
  ['an import at run time', { 'net/a.ts': "const x = await import('../checks/b.ts')\n" }, 'imports go down only'],
  ['a bare import', { 'net/a.ts': "import '../checks/b.ts'\n" }, 'imports go down only'],
  ['a module without a row', { 'utils/a.ts': '' }, 'the module utils has no row'],
  ['an import of a module without a row', { 'start/a.ts': importing('../utils/b.ts') }, 'imports go down only'],
  ["another check's index", { 'checks/spf/a.ts': importing('../dkim/index.ts') }, undefined],
  ["another check's parts", { 'checks/spf/a.ts': importing('../dkim/parse.ts') }, "another check's index.ts only"],
  ['what checks share', { 'checks/spf/a.ts': importing('../finding.ts') }, undefined],
  ['a socket in net', { 'net/a.ts': importing('node:tls') }, undefined],
  ['a socket elsewhere', { 'dnsbl/a.ts': importing('node:tls') }, 'sockets and files belong in'],
  ['a file elsewhere', { 'jobs/a.ts': importing('fs/promises') }, 'sockets and files belong in'],
  ['isIP, which opens nothing', { 'names/a.ts': "import { isIP } from 'node:net'\n" }, undefined],
  ['the clock', { 'jobs/a.ts': 'const now = Date.now()' }, 'the clock is handed in'],
  ['the clock in start', { 'start/a.ts': 'const now = Date.now()' }, undefined],
  ['chance', { 'start/a.ts': 'const x = Math.random()' }, 'chance is handed in'],
  ['the environment', { 'jobs/a.ts': 'const x = process.env.X' }, 'the only reader of the environment'],
  ['a circle', { 'net/a.ts': importing('./b.ts'), 'net/b.ts': importing('./a.ts') }, 'circle: net/a.ts > net/b.ts'],
  ['a circle of one', { 'net/a.ts': importing('./a.ts') }, 'circle: net/a.ts > net/a.ts'],
])('%s', (_, files, problem) => {
  const found = violations(new Map(Object.entries(files)))
  if (problem === undefined) expect(found).toEqual([])
  else expect(found).toEqual([expect.stringContaining(problem)])
})
