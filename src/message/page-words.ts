/** Words that web pages have around a message (UTF-8 as latin1). */
const words = (...some: readonly string[]): RegExp =>
  new RegExp(`^(?:${Buffer.from(some.join('|')).toString('latin1')})$`, 'i')
/** The button below the message of such a page, as Outlook on the web has it (UTF-8 as latin1). */
export const CLOSE = words(
  'close|(?:fenster )?schließen|fermer|cerrar|chiudi|fechar|sluiten|zamknij|zavřít|stäng|luk|lukk|sulje|закрыть|закрити',
  'kapat|bezárás|閉じる|关闭|關閉|닫기',
)
/** Buttons that stand behind a header alone; a message may end with such a word. */
export const BUTTON = words(
  'ok|done|cancel|back|print|copy(?: headers?| to clipboard)?|download(?: original)?',
  'fertig|abbrechen|zurück|drucken|(?:in (?:die )?zwischenablage )?kopieren|(?:original )?herunterladen',
  'annuler|copier(?: dans le presse-papiers?)?|cancelar|copiar(?: al portapapeles)?|annulla|copia(?: negli appunti)?',
  'kopiëren|kopiuj|копировать',
)
/** Links at the foot of web pages. */
const FOOT_LINK = words(
  'privacy(?: policy| notice)?|terms(?: of (?:service|use)|& conditions)?|help(?: cent(?:er|re))?|support|feedback|legal',
  'about|contact(?: us)?|cookies?(?: policy)?|accessibility|imprint|log ?out|sign out|back to top|powered by .{1,40}',
  'datenschutz(?:erklärung)?|impressum|agb|nutzungsbedingungen|hilfe|kontakt|barrierefreiheit|abmelden',
  'confidentialité|mentions légales|cgu|aide|conditions(?: d.utilisation)?|déconnexion',
  'privacidad|aviso legal|términos|condiciones|ayuda|contacto|informativa|termini|aiuto|assistenza',
  'hulp|voorwaarden|disclaimer|polityka prywatności|regulamin|pomoc|プライバシー(?:ポリシー)?|利用規約|ヘルプ',
)
const COPYRIGHT = /(?:^|\s)(?:\xc2\xa9|\(c\)|copyright)\s{0,3}(?:\d{4}|[a-z])/i

/** Whether lines are the foot of a page: a copyright, or several links to what pages have. */
export function isFoot(text: string): boolean {
  const lines = text.split('\n').flatMap((line) => line.trim() || [])
  const items = lines.flatMap((line) => line.split(/\s*(?:\||\xc2\xb7|\xe2\x80\xa2|\xe2\x80\x93|\t|\s{3,20}|\s-\s)\s*/))
  const links = items.filter((item) => FOOT_LINK.test(item))
  const others = items.filter((item) => !FOOT_LINK.test(item) && !COPYRIGHT.test(item) && !BUTTON.test(item))
  return others.length === 0 && (links.length > 1 || items.some((item) => COPYRIGHT.test(item)))
}
