import { isJsonObject, type JsonObject } from '../../base/json.ts'
import { type Block, code, type Inline, quiet, text } from './block.ts'
import { wordsFor } from './words.ts'

/** Keys of one domain that are shown. */
const MAX_KEYS = 20
const DISCOVERY: Readonly<Record<string, string>> = {
  found: '',
  none_found: 'No key was found under the selectors that were tried; others may exist.',
  proven_absent: 'The DNS proves that there is no DKIM key at all.',
  unknown: 'Whether there are keys could not be found out.',
}

/** The DKIM keys: what each is good for, and its record. */
export function keyBlocks({ keys, tried, wildcard, discovery }: JsonObject): readonly Block[] {
  const found = Array.isArray(keys) ? keys.filter(isJsonObject) : []
  const words = wordsFor(DISCOVERY, String(discovery)) ?? ''
  return [
    ...(words === '' ? [] : [text(words)]),
    ...found.slice(0, MAX_KEYS).flatMap(keyOf),
    ...(found.length > MAX_KEYS ? [quiet(`${found.length - MAX_KEYS} more keys are in the JSON.`)] : []),
    quiet(
      `${String(tried ?? 0)} selectors tried`,
      wildcard === true ? '; a wildcard answers for every selector, so that any name seems to be one.' : '.',
    ),
  ]
}

function keyOf(key: JsonObject): Block[] {
  const kind = [String(key.key_type ?? '').toUpperCase(), key.key_bits === null ? '' : `${String(key.key_bits)} bits`]
  const states = [
    key.revoked === true ? 'revoked' : key.usable === true ? 'usable' : 'not usable',
    ...(key.testing === true ? ['marked as a test'] : []),
    ...(typeof key.problem === 'string' ? [key.problem] : []),
  ]
  const cname = Array.isArray(key.cname) ? key.cname.map(String) : []
  const through: Inline[] = cname.length === 0 ? [] : [', an alias of ', code(cname.at(-1)!)]
  return [
    text(
      'Selector ',
      code(String(key.selector)),
      `: ${[...kind.filter((part) => part !== ''), ...states].join(', ')}`,
      ...through,
    ),
    { kind: 'seen', label: `Record at ${String(key.name)}`, text: String(key.record ?? '') },
  ]
}
