// GSM 03.38: a text of these characters alone takes 7 bits each, those of the second list two places. Any other text is sent as UTF-16.
const basic =
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà'
const extended = '\f^{}\\[~]|€'

/** The number of SMS that a text is sent as. */
export const segmentsOf = (text: string): number => {
  const characters = Array.from(text)
  const isPlain = characters.every((one) => basic.includes(one) || extended.includes(one))
  const units = isPlain ? characters.reduce((sum, one) => sum + (extended.includes(one) ? 2 : 1), 0) : text.length
  const [single, part] = isPlain ? [160, 153] : [70, 67]
  return units <= single ? 1 : Math.ceil(units / part)
}
