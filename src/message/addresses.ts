import { decodeWords } from './words.ts'

/** A mailbox of a header field. */
export type Mailbox = { readonly name: string; readonly address: string }

/** Maximum number of characters of an address in running text (RFC 5321 §4.5.3.1 permits 64, `@` and 255). */
const MAX_ADDRESS = 320
const BLANKS = /\s+/y
const PLAIN = /[^\s"([<>,;:]+/y
const PLAIN_IN_ANGLE = /[^\s"([<>]+/y
const CLOSES: Readonly<Record<string, string>> = { '"': '"', '(': ')', '[': ']' }

/**
 * The first `max` mailboxes of an address list (RFC 5322 §3.4), those of groups included, also in obsolete and in
 * broken forms that people send: with a route, with a comment as the name, without brackets, with a bracket or a quote
 * that is not closed. An encoded word is never an address (RFC 2047 §5). Never throws.
 */
export function parseAddresses(text: string, max: number): readonly Mailbox[] {
  const mailboxes: Mailbox[] = []
  // A sign that is not closed is a character like others, and its end is not looked for again: the text is read once.
  const enclosing = new Set(Object.keys(CLOSES))
  let one = new Reading()
  const end = (): void => {
    const mailbox = one.mailbox()
    if (mailbox) mailboxes.push(mailbox)
    one = new Reading()
  }
  for (let at = 0; at < text.length && mailboxes.length < max; ) {
    const char = text[at]!
    const close = enclosing.has(char) && (char !== '[' || text[at - 1] === '@') ? closeOf(text, at) : undefined
    if (close !== undefined && close < 0) enclosing.delete(char)
    else if (close !== undefined) one.enclosed(char, text.slice(at + 1, close))
    else if (char === '<') one.openAngle()
    else if (char === '>') one.closeAngle()
    else if (!one.isInAngle && (char === ',' || char === ';')) end()
    else if (!one.isInAngle && char === ':')
      one = new Reading() // what stands before it names a group
    else {
      const blanks = run(BLANKS, text, at)
      const plain = run(one.isInAngle ? PLAIN_IN_ANGLE : PLAIN, text, at) || char
      if (blanks !== '') one.endWord()
      else one.add(plain)
      at += (blanks || plain).length
      continue
    }
    at = close === undefined ? at + 1 : Math.max(at, close + 1)
  }
  if (mailboxes.length < max) end()
  return mailboxes
}

/** What a sticky pattern matches at a place. */
function run(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at
  return pattern.exec(text)?.[0] ?? ''
}

/** The place of the sign that closes the one at `from`; comments nest. -1: there is none. */
function closeOf(text: string, from: number): number {
  const opening = text[from]!
  const closing = CLOSES[opening]
  let depth = 1
  for (let at = from + 1; at < text.length; at++) {
    const char = text[at]
    if (char === '\\') at++
    else if (char === closing && --depth === 0) return at
    else if (char === '(' && opening === '(') depth++
  }
  return -1
}

const unescaped = (text: string): string => text.replace(/\\(.)/gs, '$1')

/** A word as it is shown in a name, and as it is written in an address; `isQuoted`: it is a quoted string alone. */
type Word = { readonly shown: string; readonly written: string; readonly isQuoted: boolean }

class Reading {
  isInAngle = false
  readonly #words: Word[] = []
  readonly #comments: string[] = []
  #word: Word | undefined
  #angle: string[] = []
  #address: string | undefined

  add(text: string): void {
    if (this.isInAngle) this.#angle.push(text)
    else this.#append({ shown: text, written: text, isQuoted: false })
  }

  enclosed(opening: string, inside: string): void {
    const written = `${opening}${inside}${CLOSES[opening]}`
    if (opening === '(') {
      this.endWord()
      this.#comments.push(unescaped(inside).trim())
    } else if (this.isInAngle || opening === '[') this.add(written)
    else this.#append({ shown: unescaped(inside), written, isQuoted: true })
  }

  endWord(): void {
    if (this.#word) this.#words.push(this.#word)
    this.#word = undefined
  }

  /** A bracket within brackets begins anew. */
  openAngle(): void {
    this.endWord()
    this.isInAngle = true
    this.#angle = []
  }

  closeAngle(): void {
    const address = this.#angle.join('').replace(/^@[^:]*:/, '') // RFC 5322 §4.4: a route
    if (address.includes('@')) this.#address ??= address
    this.isInAngle = false
    this.#angle = []
  }

  /** Undefined if there is no address. */
  mailbox(): Mailbox | undefined {
    this.endWord()
    this.closeAngle()
    const address = this.#address ?? this.#takeAddress()
    if (address === undefined) return undefined
    const words = this.#words.map(({ shown }) => shown).join(' ')
    return { name: decodeWords((words.trim() === '' ? this.#comments.join(' ') : words).trim()), address }
  }

  /** The first word that is an address, taken from the words. */
  #takeAddress(): string | undefined {
    const at = this.#words.findIndex(({ written, isQuoted }) => !isQuoted && isAddress(written))
    if (at < 0) return undefined
    const [{ written }] = this.#words.splice(at, 1) as [Word]
    // The marks of running text around it: `('joe@example.org').`
    return written.replace(/^['[({]+/, '').replace(written.includes('@[') ? /['.]+$/ : /['\])}.]+$/, '')
  }

  #append({ shown, written, isQuoted }: Word): void {
    const before = this.#word
    this.#word = before
      ? { shown: before.shown + shown, written: before.written + written, isQuoted: false }
      : { shown, written, isQuoted }
  }
}

const isAddress = (word: string): boolean =>
  word.length <= MAX_ADDRESS && /^[^@]+@.+$/s.test(word) && !/^=\?.*\?=$/s.test(word)
