import { isJsonRecord } from '../base/json.ts'
import type { Operation } from './operation.ts'
import { pathNames } from './path.ts'

/** Items of a list, and characters of a text, that an example shows. */
const SHOWN_ITEMS = 2
const SHOWN_TEXT = 90

const ORIGIN = 'http://127.0.0.1:8080'

/** The example of an operation as a command of `curl`, over several lines where it has a body. */
export function curlOf({ method, path, example, params, uploads }: Operation): string {
  const inPath = pathNames(path)
  const given = Object.entries(example.input).filter(([name]) => Object.hasOwn(params, name))
  const target = inPath.reduce(
    (all, name) => all.replace(`{${name}}`, encodeURIComponent(String(example.input[name] ?? name))),
    path,
  )
  const others = given.filter(([name]) => !inPath.includes(name))
  const inQuery = method === 'GET' || method === 'DELETE' || uploads !== undefined
  const query = inQuery
    ? new URLSearchParams(others.map(([name, value]): [string, string] => [name, String(value)])).toString()
    : ''
  const command = `curl -s${method === 'GET' ? '' : ` -X ${method}`} '${ORIGIN}${target}${query && `?${query}`}'`
  if (uploads === 'message') return `${command} \\\n  -H 'content-type: message/rfc822' --data-binary @mail.eml`
  if (uploads) return `${command} \\\n  -H 'content-type: text/csv' --data-binary @list.csv`
  if (inQuery || others.length === 0) return command
  return `${command} \\\n  -H 'content-type: application/json' \\\n  -d ${quotedForShell(JSON.stringify(Object.fromEntries(others)))}`
}

const quotedForShell = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/** A value as JSON with comments (`json5`): long lists and texts are cut, and marked as such. */
export function briefJson(value: unknown, indent = ''): string {
  if (typeof value === 'string')
    return JSON.stringify(value.length > SHOWN_TEXT ? `${value.slice(0, SHOWN_TEXT)}…` : value)
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const flat = JSON.stringify(value).replaceAll('","', '", "')
  if (flat.length <= SHOWN_TEXT) return flat
  const inner = `${indent}  `
  if (Array.isArray(value)) {
    const rest = value.length > SHOWN_ITEMS ? [`// … ${value.length - SHOWN_ITEMS} more`] : []
    const lines = [...value.slice(0, SHOWN_ITEMS).map((item) => `${briefJson(item, inner)},`), ...rest]
    return `[\n${lines.map((line) => inner + line).join('\n')}\n${indent}]`
  }
  const fields = isJsonRecord(value) ? Object.entries(value) : []
  const lines = fields.map(([key, item]) => `${inner}"${key}": ${briefJson(item, inner)},`)
  return `{\n${lines.join('\n')}\n${indent}}`
}
