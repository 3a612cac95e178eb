import type { DkimFields, DkimKey } from '../../answers/checks.ts'
import { type Block, code, type Inline, quiet, text } from '../block.ts'

/** Maximum number of keys shown. */
const MAX_KEYS = 20
const DISCOVERY: Readonly<Record<DkimFields['discovery'], string>> = {
  found: '',
  none_found: 'No key was found under the selectors that were tried; others may exist.',
  proven_absent: 'The DNS proves that there is no DKIM key at all.',
  unknown: 'It could not be determined whether there are keys.',
}

/** The DKIM keys: the state of each, and its record. */
export function keyBlocks({ keys, tried, wildcard, discovery, learned = [] }: DkimFields): readonly Block[] {
  const words = DISCOVERY[discovery]
  return [
    ...(words === '' ? [] : [text(words)]),
    ...keys.slice(0, MAX_KEYS).flatMap(keyOf),
    ...(keys.length > MAX_KEYS ? [quiet(`${keys.length - MAX_KEYS} more keys are in the JSON.`)] : []),
    quiet(
      `${tried} selectors tried`,
      wildcard ? '; a wildcard answers for every selector, so every name seems to be a selector.' : '.',
    ),
    ...(learned.length === 0
      ? []
      : [
          quiet(
            'Reports name ',
            learned.length === 1 ? 'the selector ' : 'the selectors ',
            code(learned.join(', ')),
            '.',
          ),
        ]),
  ]
}

function keyOf({
  selector,
  name,
  record,
  key_type,
  key_bits,
  revoked,
  usable,
  testing,
  problem,
  cname,
}: DkimKey): Block[] {
  const kind = [key_type.toUpperCase(), key_bits === null ? '' : `${key_bits} bits`]
  const states = [
    revoked ? 'revoked' : usable ? 'usable' : 'not usable',
    ...(testing ? ['in test mode'] : []),
    ...(problem === undefined ? [] : [problem]),
  ]
  const through: Inline[] = cname.length === 0 ? [] : [', an alias of ', code(cname.at(-1)!)]
  return [
    text('Selector ', code(selector), `: ${[...kind.filter((part) => part !== ''), ...states].join(', ')}`, ...through),
    { kind: 'seen', label: `Record at ${name}`, text: record },
  ]
}
