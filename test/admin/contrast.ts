import { style } from '../../api/admin/ops/style.ts'

const channel = (value: number) => (value <= 0.040_45 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4)

const luminance = (colour: string): number => {
  const hex = colour.length === 4 ? colour.slice(1).replace(/./g, '$&$&') : colour.slice(1)
  const [red = 0, green = 0, blue = 0] = [0, 2, 4].map((at) => channel(parseInt(hex.slice(at, at + 2), 16) / 255))
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

const pairs = [
  ['text', 'page'],
  ['text', 'card'],
  ['soft', 'page'],
  ['soft', 'card'],
  ['link', 'page'],
  ['link', 'card'],
  ['on-button', 'button'],
  ['good', 'good-back'],
  ['warn', 'warn-back'],
  ['bad', 'bad-back'],
  ['text', 'good-back'],
  ['text', 'warn-back'],
  ['text', 'bad-back'],
  ['link', 'good-back'],
  ['link', 'warn-back'],
  ['link', 'bad-back'],
] as const

/** The contrast of each text of the operations pages with what is behind it, by WCAG, in light and in dark. */
export const contrasts = (): { pair: string; ratio: number }[] =>
  [...style.matchAll(/:root\{([^}]*)\}/g)].flatMap(([, declared = ''], mode) => {
    const colours = new Map(
      [...declared.matchAll(/--([\w-]+):(#[0-9a-f]{3,6})/g)].map(([, name = '', hex = '']) => [name, hex]),
    )
    return pairs.map(([front, back]) => {
      const [one, other] = [luminance(colours.get(front) ?? ''), luminance(colours.get(back) ?? '')]
      return {
        pair: `${front} on ${back}, ${mode === 0 ? 'light' : 'dark'}`,
        ratio: (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05),
      }
    })
  })
