import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { matchesGlob } from 'node:path'
import { describe, expect, it } from 'vitest'
import * as blacklist from '../src/answers/blacklist.ts'
import { testState } from '../src/answers/blacklist.ts'
import { domainRole } from '../src/answers/check.ts'
import { severity, status } from '../src/answers/finding.ts'
import { jobState } from '../src/answers/jobs.ts'
import { monitorState } from '../src/answers/monitors.ts'
import { peerAnswer } from '../src/answers/peers.ts'
import { breakerState } from '../src/answers/pool.ts'
import { agreement } from '../src/answers/vantage.ts'
import { verifyAnswer } from '../src/answers/verify.ts'

const ROOT = new URL('../', import.meta.url)
const read = (path: string): string => readFileSync(new URL(path, ROOT), 'utf8')
const markdownOf = (folder: string): readonly string[] =>
  readdirSync(new URL(folder, ROOT), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `${folder}${name}`)
    .toSorted()

const DOCUMENTS = [
  'README.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'test/archetypes/README.md',
  'test/real/README.md',
  ...markdownOf('docs/'),
  ...markdownOf('contributing/'),
]

const withoutFences = (text: string): string => text.replaceAll(/^```.*?^```/gms, '')
const withoutCode = (text: string): string => withoutFences(text).replaceAll(/`[^`\n]*`/g, '``')
const headingsOf = (text: string): readonly string[] =>
  [...withoutFences(text).matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = '']) => heading.replaceAll('`', ''))

/** The anchor of a heading on the site (src/pages/docs.ts), and in a repository on GitHub. */
const onSite = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, '-')
    .replaceAll(/^-|-$/g, '')
const onGitHub = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-')

/** What is wrong with a link of a document; undefined where it leads somewhere. */
function faultOf(document: string, href: string): string | undefined {
  if (/^(?:https?|mailto):/.test(href)) return undefined
  const url = new URL(href, new URL(document, ROOT))
  if (!existsSync(new URL(url.pathname, 'file://'))) return `no file: ${href}`
  const anchor = decodeURIComponent(url.hash.slice(1))
  if (anchor === '') return undefined
  const headings = headingsOf(readFileSync(new URL(url.pathname, 'file://'), 'utf8'))
  return headings.some((heading) => onSite(heading) === anchor && onGitHub(heading) === anchor)
    ? undefined
    : `no heading: ${href}`
}

describe('links of the documents', () => {
  it.each(DOCUMENTS)('%s', (document) => {
    const links = [...withoutCode(read(document)).matchAll(/\]\(([^)\s]+)\)/g)].map(([, href = '']) => href)
    expect(links.map((href) => faultOf(document, href)).filter((fault) => fault !== undefined)).toEqual([])
  })

  it.each<[string, string | undefined]>([
    ['score.md#roles', undefined],
    ['score.md#no-such-heading', 'no heading: score.md#no-such-heading'],
    ['no-such-file.md', 'no file: no-such-file.md'],
  ])('a link to %s', (href, fault) => expect(faultOf('docs/glossary.md', href)).toBe(fault))
})

describe('files that the documents for developers name', () => {
  const SOURCES = ['src', 'test', 'docs', 'scripts', 'bench', 'contributing', 'examples']
  const paths = SOURCES.flatMap((folder) =>
    readdirSync(new URL(folder, ROOT), { recursive: true, encoding: 'utf8' }).map((name) => `${folder}/${name}`),
  )
  const ends = new Set(
    [...SOURCES, ...paths].flatMap((path) => path.split('/').map((_, at, parts) => parts.slice(at).join('/'))),
  )
  const exists = (name: string): boolean =>
    name.includes('*') ? paths.some((path) => matchesGlob(path, `**/${name}`)) : ends.has(name.replace(/\/$/, ''))

  /** Names of TypeScript files anywhere in the text (a path, or its end), and in code also folders from the root. */
  const namesIn = (text: string): readonly string[] => [
    ...[...text.matchAll(/(?<![\w>./*-])[\w*][\w./*-]*\.ts\b/g)].map(([name]) => name),
    ...[...text.matchAll(/`((?:src|test|docs|scripts|bench|contributing|examples)\/[\w./*-]*)`/g)].map(
      ([, name = '']) => name,
    ),
  ]

  it.each(['CONTRIBUTING.md', ...markdownOf('contributing/')])('%s', (document) =>
    expect([...new Set(namesIn(read(document)))].filter((name) => !exists(name))).toEqual([]),
  )

  it.each([
    ['see `base/errors.ts`', true],
    ['see base/no-such-file.ts', false],
    ['`reply/table-*.ts`', true],
    ['`reply/no-such-*.ts`', false],
    ['`src/dnsbl`', true],
    ['`src/no-such-folder`', false],
  ])('%s: %s', (text, exist) => expect(namesIn(text).map(exists)).toEqual([exist]))
})

describe('the glossary', () => {
  const [glossary = '', synonyms = ''] = read('docs/glossary.md').split('\n## One word for one concept\n')
  const rowsOf = (text: string): readonly string[][] =>
    [...text.matchAll(/^\| (.+) \| (.+) \|$/gm)]
      .map(([, first = '', second = '']) => [first, second])
      .filter(([first]) => first !== 'word' && first !== 'use')
  const words = rowsOf(glossary)

  it('explains each word once, in one sentence or two, with a link', () => {
    expect(words.length).toBeGreaterThan(60)
    expect(new Set(words.map(([word]) => word)).size).toBe(words.length)
    expect(words.filter(([, meaning]) => !/\. \[[\w/.-]+\]\([^)]+\)$/.test(meaning ?? ''))).toEqual([])
  })

  it.each([
    ['status', status.options],
    ['severity', severity.options],
    ['domain_role', domainRole.shape.name.options],
    ['result', verifyAnswer.shape.result.options],
    ['deliverability', verifyAnswer.shape.deliverability.options],
    ['entry of a blacklist', blacklist.listEntry.shape.status.options],
    ['verdict', blacklist.blacklistVerdict.options],
    ['scope of a listing', blacklist.scope.options],
    ['self-test', testState.options],
    ['agreement', agreement.shape.verdict.options],
    ['breaker', breakerState.options],
    ['node', peerAnswer.shape.status.options],
    ['job', jobState.options],
    ['monitor', monitorState.options],
  ])('has every value of: %s', (_, values) =>
    expect(values.filter((value) => !glossary.includes(`\`${value}\``))).toEqual([]),
  )

  // Documents, the manual page, what OpenAPI describes, and documents of answers as people read them.
  const texts = [
    ...DOCUMENTS.filter((document) => !/glossary|bounds|rfc-index/.test(document)),
    'docs/mailsonde.1',
    'docs/openapi.json',
    ...markdownOf('test/golden/documents/'),
  ]
  it.each(texts)('%s uses one word for one concept', (document) => {
    const text = document.endsWith('.json')
      ? [...read(document).matchAll(/"(?:description|summary)": "((?:[^"\\]|\\.)*)"/g)]
          .map(([, words]) => words)
          .join('\n')
      : withoutCode(read(document)).replaceAll(/"[^"\n]*"/g, '""')
    const others = rowsOf(synonyms).flatMap(([, not = '']) => not.split(', '))
    expect(others.length).toBeGreaterThan(8)
    expect(others.filter((other) => new RegExp(`\\b${other}\\b`, 'i').test(text))).toEqual([])
  })
})

it.each(DOCUMENTS.filter((name) => name !== 'CHANGELOG.md'))(
  '%s runs a clone or a packed file, not a package by name',
  (document) =>
    expect(read(document)).not.toMatch(
      /\bnpx (?:-\S+ )*mailsonde\b|\bnpm (?:i|install|exec) (?:-\S+ )*mailsonde(?:@\S+)?(?:\s|$)/,
    ),
)
