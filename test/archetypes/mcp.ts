import { once } from '../../src/base/share-work.ts'
import type { Document } from '../../src/documents/block.ts'
import { mcpHandler } from '../../src/mcp/server.ts'
import { check } from '../../src/operations/check.ts'
import type { Execute } from '../../src/operations/execute.ts'
import type { Operation, Raw } from '../../src/operations/operation.ts'
import { plan } from '../../src/operations/plan.ts'

const BOUNDARY = 'b0undary'
const ENCLOSED = new RegExp(`\\n${BOUNDARY}\\n(.*)\\n${BOUNDARY}(.*)$`, 's')
const OFFERED = [check, plan] as unknown as readonly Operation[]

type Called = {
  readonly result: {
    readonly content: readonly [{ readonly text: string }]
    readonly structuredContent?: Readonly<Record<string, unknown>>
  }
}

/** The answers to give, by tool and domain. */
const answers = new Map<string, Answer>()
type Answer = { readonly answer: object; readonly document: Document }

const handler = once(() => {
  const answered = async ({ name }: Operation, { domain }: Raw) => {
    const { answer, document } = answers.get(`${name} ${domain}`)!
    return { answer, document: () => document }
  }
  const execute = Object.assign(answered, { lines: answered }) as unknown as Execute
  return mcpHandler({ operations: OFFERED, execute, version: '1', mayUse: () => true, boundary: () => BOUNDARY })
})

/**
 * What an assistant gets of an answer by a tool: its text, all parts together, and its JSON where the answer is small.
 */
export async function calledTool(
  name: 'check' | 'plan',
  domain: string,
  given: Answer,
): Promise<{ readonly text: string; readonly json: object | undefined }> {
  const parts: string[] = []
  let json: object | undefined
  answers.set(`${name} ${domain}`, given)
  for (let from = 1; from > 0; ) {
    const params = { name, arguments: { domain, from_line: from } }
    const { result } = await post({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
    const [, part = '', rest = ''] = ENCLOSED.exec(result.content[0].text)!
    parts.push(part)
    json ??= result.structuredContent
    from = Number(/from_line (\d+)/.exec(rest)?.[1] ?? 0)
  }
  return { text: parts.join('\n'), json }
}

async function post(message: object): Promise<Called> {
  const request = new Request('http://localhost/mcp', {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2025-06-18',
    },
    body: JSON.stringify(message),
  })
  const response = await handler().fetch(request, { parsedBody: message })
  const text = await response.text()
  return JSON.parse(text.startsWith('{') ? text : /^data: (.*)$/m.exec(text)![1]!)
}
