/** Maximum number of characters of a complete answer, and of one line of a stream. */
const MAX_TEXT = 16 * 1024 * 1024

/** The text of a body as a stream. Leaving the loop cancels the rest. */
async function* textChunks({ body }: Response): AsyncGenerator<string> {
  if (!body) return
  const reader = body.getReader()
  const decoder = new TextDecoder()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      yield decoder.decode(value, { stream: !done })
      if (done) return
    }
  } finally {
    await reader.cancel().catch(() => {}) // it has ended, or was interrupted
  }
}

/** The whole text of a body, at most 16 Mi characters. */
export async function textOf(response: Response): Promise<string> {
  let text = ''
  for await (const chunk of textChunks(response)) {
    text += chunk
    if (text.length > MAX_TEXT) throw new RangeError('the answer is too long')
  }
  return text
}

/**
 * The lines of a body as a stream, without their ends; an incomplete last line is included. At most 16 Mi characters
 * each.
 */
export async function* linesOf(response: Response): AsyncGenerator<string> {
  let open = ''
  for await (const chunk of textChunks(response)) {
    const [first = '', ...others] = chunk.split('\n')
    open += first
    if (open.length > MAX_TEXT) throw new RangeError('a line of the answer is too long')
    for (const next of others) {
      yield open.replace(/\r$/, '')
      open = next
    }
  }
  if (open !== '') yield open
}

/** One server-sent event whose data is JSON. */
type SentEvent = { readonly event: string; readonly data: unknown }

/**
 * The events of a body as a stream (the format of the HTML standard, §9.2.6); comments and incomplete events are
 * ignored.
 */
export async function* eventsOf(response: Response): AsyncGenerator<SentEvent> {
  let event = 'message'
  let data: string[] = []
  for await (const line of linesOf(response)) {
    if (line === '') {
      if (data.length > 0) yield { event, data: JSON.parse(data.join('\n')) }
      event = 'message'
      data = []
    } else if (!line.startsWith(':')) {
      const [, name = '', value = ''] = /^([^:]*)(?:: ?(.*))?$/.exec(line) ?? []
      if (name === 'event') event = value
      if (name === 'data') data.push(value)
    }
  }
}
