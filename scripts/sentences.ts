import { globSync } from 'node:fs'
import { resolve } from 'node:path'
import { ERRORS, type ErrorCode } from '../src/base/errors.ts'
import { inEnglish, problemWith, type Say, shown } from '../src/base/problem.ts'

/** One sentence of the tables of src. `code` is that of its errors; a sentence about a value has none of its own. */
export type AnySentence = {
  readonly file: string
  /** The name of the function that makes the problem or the error. */
  readonly maker: string
  readonly subject: string
  readonly id: string
  readonly code: ErrorCode | undefined
  /** The sentence; `say` writes a problem within it, by default in English. */
  readonly tell: (values: object, say?: Say) => string
}

/** Every sentence of an error, in the order of the files and tables. */
export async function allSentences(root: string): Promise<readonly AnySentence[]> {
  const files = globSync('src/**/*problems.ts', { cwd: root }).sort()
  const found: AnySentence[] = []
  for (const file of files) {
    const module: Readonly<Record<string, unknown>> = await import(resolve(root, file))
    for (const [maker, made] of Object.entries(module)) {
      const { subject = '', table, errors } = (typeof made === 'function' ? made : {}) as Made
      const groups = table ? [[undefined, table] as const] : Object.entries(errors ?? {})
      for (const [code, sentences] of groups)
        for (const [id, tell] of Object.entries(sentences)) {
          const told = (values: object, say = inEnglish): string => tell(values, say)
          found.push({ file, maker, subject, id, code: code as ErrorCode | undefined, tell: told })
        }
    }
  }
  return found
}

type Sentences = Readonly<Record<string, (values: object, say: Say) => string>>
/** A function that makes problems has a `table`, one that makes errors has tables by their codes. */
type Made = {
  readonly subject?: string
  readonly table?: Sentences
  readonly errors?: Readonly<Partial<Record<ErrorCode, Sentences>>>
}

/** What stands for each kind of value. */
export type Samples = {
  readonly text: (name: string) => string
  readonly number: (name: string) => unknown
  readonly list: (name: string) => readonly string[]
}

/** Values that are numbers, lists and problems, by their names; all others are texts. */
const NUMBERS = [
  'max',
  'min',
  'count',
  'column',
  'status',
  'line',
  'index',
  'bits',
  'more',
  'seconds',
  'received',
  'octet',
  'expected',
  'uid',
  'version',
  'supported',
  'header',
  'bad',
  'rows',
  'waiting',
  'ede',
  'port',
  'instance',
  'lines',
  'signed',
  'arrived',
  'major',
  'oldest',
]
/** Values that are problems. */
const PROBLEMS = ['why', 'first', 'second']
const LISTS = ['names', 'absent', 'trace', 'known', 'faults', 'hashes', 'services']
/** Values from a fixed set of words. */
const WORDS: Readonly<Record<string, string>> = {
  'value.kind': 'job',
  'list.kind': 'verify',
  'list.file': 'zip',
  'list_file.why': 'dead',
  'file.why': 'owner',
  'private_database.why': 'owner',
  'store.why': 'row',
  'schema.type': 'string',
  'job.action': 'pause',
  'role.role': 'parked',
  'record.type': 'MX',
  'service_start.code': 'EADDRINUSE',
}

/** Values for any sentence of a subject, created on demand. */
export const sampleValues = (subject: string, id: string, samples: Samples): object =>
  new Proxy(
    {},
    {
      get: (_, name) => {
        const word = WORDS[`${subject}.${String(name)}`]
        if (word !== undefined) return word
        return sampleOf(`${subject}.${id}`, String(name), samples)
      },
    },
  )

function sampleOf(sentence: string, name: string, samples: Samples): unknown {
  const isDuration = /^value\.(?:outside|above)$/.test(sentence)
  if (PROBLEMS.includes(name)) return problemWith('sample', () => shown(samples.text(name), 300), undefined)
  if (LISTS.includes(name)) return samples.list(name)
  return NUMBERS.includes(name) && !isDuration ? samples.number(name) : samples.text(name)
}

/** Subjects of notices on standard error, and of what happens on the network. */
const NOTICES = [
  'hint',
  'list_notice',
  'dns_message',
  'dns',
  'fetch',
  'dial',
  'smtp',
  'proxy',
  'proxy_fault',
  'no_mail',
  'taken',
]

/** The code of the errors that a sentence about a value leads to, by its subject or its name. */
const CODES: Readonly<Record<string, ErrorCode>> = {
  domain: 'invalid_domain',
  ip: 'invalid_ip',
  'value.duration': 'invalid_duration',
  'value.outside': 'invalid_duration',
  'value.above': 'invalid_duration',
  form: 'bad_message',
}

/** The page of error codes, with the sentences of each. */
export async function errorLists(root: string): Promise<string> {
  const samples: Samples = { text: (name) => `‹${name}›`, number: (name) => `‹${name}›`, list: (name) => [`‹${name}›`] }
  const all = (await allSentences(root)).map((one) => ({
    ...one,
    code: one.code ?? CODES[one.subject] ?? CODES[`${one.subject}.${one.id}`],
    // A number that is counted in another unit is none here.
    text: one.tell(sampleValues(one.subject, one.id, samples)).replaceAll('NaN', '‹number›'),
  }))
  // Not one that only passes on what another program says, no notice beside an error, no fault of the network or of a
  // published record: findings and results tell those.
  const isSentence = ({ text, subject, file }: AnySentence & { text: string }): boolean =>
    !/^‹\w+›$/.test(text) && !NOTICES.includes(subject) && !file.startsWith('src/checks/')
  const listOf = (code: ErrorCode | undefined): string =>
    [...new Set(all.filter((one) => one.code === code && isSentence(one)).map(({ text }) => `- ${text}`))].join('\n')
  const codes = Object.keys(ERRORS) as ErrorCode[] // the keys of a constant
  const parts = codes.map((code) => `### ${code}\n\n${listOf(code)}\n`)
  return `${parts.join('\n')}\n### Any code\n\nWhat is wrong with a value. The name of the parameter or of the flag stands before it.\n\n${listOf(undefined)}\n`
}
