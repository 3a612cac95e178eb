import { linesOf } from './chunks.ts'

/** One server-sent event whose data is JSON. */
export type SentEvent = { readonly event: string; readonly data: unknown }

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
