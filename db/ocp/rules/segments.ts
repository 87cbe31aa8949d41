// GSM 03.38: a text of these characters alone takes 7 bits each, those of the second list two places. Any other text is sent as UTF-16.
const basic =
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà'
const extended = '\f^{}\\[~]|€'

/** The number of SMS that a text is sent as. No part ends within a character: one of two places that does not fit goes to the next part whole. */
export const segmentsOf = (text: string): number => {
  const characters = Array.from(text)
  const isPlain = characters.every((one) => basic.includes(one) || extended.includes(one))
  const places = characters.map((one) => (isPlain ? (extended.includes(one) ? 2 : 1) : one.length))
  const [single, part] = isPlain ? [160, 153] : [70, 67]
  if (places.reduce((total, one) => total + one, 0) <= single) return 1
  let count = 1
  let taken = 0
  for (const one of places) {
    if (taken + one > part) {
      count += 1
      taken = 0
    }
    taken += one
  }
  return count
}
