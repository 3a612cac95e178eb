import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { labFolder } from '../test/lab/folder.ts'
import { describeConfig, type Flags, loadConfig, variableOf } from './config.ts'
import { OPTIONS, readPool } from './config-options.ts'

const file = (content: unknown): string => {
  const path = join(labFolder(), 'c.json')
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}

describe('where a value comes from', () => {
  it.each<[string, Flags, NodeJS.ProcessEnv, unknown, number, string]>([
    ['nothing', {}, {}, {}, 8080, 'default'],
    ['the file', {}, {}, { port: 81 }, 81, 'file'],
    ['the environment beats the file', {}, { MAILSONDE_PORT: '82' }, { port: 81 }, 82, 'environment'],
    ['a flag beats both', { port: '83' }, { MAILSONDE_PORT: '82' }, { port: 81 }, 83, 'flag'],
  ])('%s', (_, flags, env, content, port, source) => {
    const { config, sources } = loadConfig({ config: file(content), ...flags }, env)
    expect([config.port, sources.port]).toEqual([port, source])
  })
})

const namesOf = (pool: ReturnType<typeof readPool>) => pool.ok && pool.value.map(({ name }) => name)

it.each([
  ['a list', [{ finding: 'dmarc.no_record' }], '[{"finding":"dmarc.no_record"}]'],
  ['the name of a file', 'accepted.json', 'accepted.json'],
])('accepted findings are %s', (_, accept, text) => {
  expect(loadConfig({ config: file({ accept }) }, {}).config.accept).toBe(text)
})

it('reads proxies and nodes, and shows no login', () => {
  const loaded = loadConfig({ pool: ['45.53.1.1', 'socks5://user:hunter2@proxy.example:1080', 'peer:north'] }, {})
  expect(namesOf(readPool(loaded.config.pool))).toEqual(['45.53.1.1', 'socks5://proxy.example:1080', 'peer:north'])
  const shown = JSON.stringify(describeConfig(loaded))
  expect(shown).toContain('socks5://********@proxy.example:1080')
  expect(shown).not.toContain('hunter2')
})

it.each<[string, Flags]>([
  ['by comma', { pool: '45.53.1.1, 45.53.1.2' }],
  ['repeated', { pool: ['45.53.1.1', '45.53.1.2'] }],
  ['both', { pool: ['45.53.1.1,45.53.1.2'] }],
  ['from a file', { pool: `@${file('45.53.1.1\n# a comment\n45.53.1.2 # another\n')}` }],
])('reads a pool %s', (_, flags) =>
  expect(namesOf(readPool(loadConfig(flags, {}).config.pool))).toEqual(['45.53.1.1', '45.53.1.2']),
)

it.each<[string, Flags, NodeJS.ProcessEnv, RegExp]>([
  ['a value of no use', { port: '99999' }, {}, /^--port: "99999" is not a whole number/],
  ['an unknown variable', {}, { MAILSONDE_PROT: '1' }, /unknown environment variable MAILSONDE_PROT/],
  ['an unknown key', { config: file({ prot: 1 }) }, {}, /unknown key "prot"/],
  ['a file that is no JSON', { config: file('{') }, {}, /could not be read/],
  ['a file that is not there', { config: '/nowhere/c.json' }, {}, /could not be read/],
  [
    'a pool file that is not there',
    { pool: '@/nowhere/pool' },
    {},
    /--pool: the file \/nowhere\/pool could not be read/,
  ],
  ['a switch that is neither', {}, { MAILSONDE_NO_COURTESY: 'yes' }, /"yes" is neither true nor false/],
  ['a network that is none', { allowNetworks: ['10.0.0.0/33'] }, {}, /\/33 is not a prefix length/],
])('refuses %s', (_, flags, env, why) => expect(() => loadConfig(flags, env)).toThrow(why))

const SECRET_URLS: Readonly<Record<string, string>> = {
  'database-url': 'postgres://jobs:s3cr3t@db.example/jobs',
  'smtp-url': 'smtps://watch:s3cr3t@mail.example',
}

it('never shows a secret', () => {
  const secrets = Object.entries(OPTIONS).filter(([, option]) => option.secret)
  const value = (flag: string): string => SECRET_URLS[flag] ?? 's3cr3t-value-of-25-letters'
  const env = Object.fromEntries(secrets.map(([, { flag }]) => [variableOf(flag), value(flag)]))
  const shown = JSON.stringify(describeConfig(loadConfig({}, env)))
  expect(secrets.length).toBeGreaterThan(2)
  expect(shown).not.toContain('s3cr3t')
  expect(shown).toContain('********')
})

it.each([
  ['https://user:hunter2@node.example:8443/', 'https://********@node.example:8443'],
  ['https://hunter2@node.example', 'https://********@node.example'],
  ['https://a:hunter2@b@node.example', 'https://********@node.example'],
  ['https://node.example', 'https://node.example'],
])('shows --join %s without its login', (join, shown) => {
  const row = describeConfig(loadConfig({ join }, {})).find(({ option }) => option === '--join')
  expect(row?.value).toBe(shown)
})

it('shows no login in a message about a URL that is of no use', () =>
  expect(() => loadConfig({ join: 'ftp://user:hunter2@node.example' }, {})).toThrow(
    /^--join: "ftp:\/\/\*{8}@node\.example" is not an http or https URL$/,
  ))
