/**
 * Cases that are not yet answered as they should be, each with the area of its fault.
 * A case that begins to pass fails its test until it is taken off this list.
 */
export const KNOWN_FAILURES: Readonly<Record<string, string>> = {
  'x3-se-nouser': 'replies',
  'x3-list-members': 'replies',
  'x3-url-words': 'replies',
  'x3-loop-a': 'replies',
  'x3-v-relay2-b': 'replies',
  'x3-v-relay6': 'replies',
  'x3-v-co2': 'replies',
  'x3-v-co4': 'replies',
  'x3-v-url1-b': 'replies',
  'x3-v-url4': 'replies',
  'x3-v-perm2': 'replies',
  'x3-v-perm4-a': 'replies',
  'x3-v-perm6': 'replies',
  'x3-v-perm8-a': 'replies',
  'x3-v-res2-d': 'replies',
  'x3-v-res7': 'replies',
  'x3-v-box0': 'replies',
  'x3-v-thr1': 'replies',
  'x3-v-thr3': 'replies',
  'x3-v-adv0-a': 'replies',
  'x3-v-adv2': 'replies',
  'x3-w-snd3-a': 'replies',
  'x3-w-snd14-a': 'replies',
  'x3-w-snd18': 'replies',
  'x3-own-0-a': 'replies',
  'x3-own-2-g': 'replies',
  'x3-own-4': 'replies',
  'x3-own-6': 'replies',
}
