import { sol } from '../ids.ts'

/** The payment of a booking. `due`: the deposit by card. `none`: the booker is trusted. */
type Money = 'all' | 'due' | 'disputed' | 'declined' | 'pix' | 'none'

export type Stay = {
  /** The booking's reference, by which later steps find it. */
  ref: string
  who: readonly [first: string, last: string, nationality: string, language: string]
  unitTypeId: string
  ratePlanId: string
  /** Days from today. */
  from: number
  nights: number
  adults: number
  ages?: readonly number[]
  money: Money
  source: 'phone' | 'email' | 'walk_in'
  requests?: string
}

const { standard, deluxe, master, flexible, saver } = sol

const stay = (
  ref: string,
  who: Stay['who'],
  place: readonly [unitTypeId: string, ratePlanId: string],
  when: readonly [from: number, nights: number],
  rest: Partial<Omit<Stay, 'ref' | 'who'>> = {},
): Stay => ({
  ref,
  who,
  unitTypeId: place[0],
  ratePlanId: place[1],
  from: when[0],
  nights: when[1],
  adults: 2,
  money: 'all',
  source: 'phone',
  ...rest,
})

/** Guests who come, have come or are yet to come. Three rooms a day at most are left for sale in the week to come. */
export const stays: readonly Stay[] = [
  // They came two days ago.
  stay('SOL-101', ['Bruno', 'Castro', 'BR', 'pt-BR'], [standard, flexible], [-2, 1]),
  stay('SOL-102', ['Elena', 'Rossi', 'IT', 'it'], [standard, saver], [-2, 1]),
  stay('SOL-103', ['Pedro', 'Vasconcelos', 'PT', 'pt'], [deluxe, flexible], [-2, 2]),
  stay('SOL-104', ['Hannah', 'Krüger', 'DE', 'de'], [standard, flexible], [-2, 2], { source: 'email' }),
  stay('SOL-105', ['Luiza', 'Ferraz', 'BR', 'pt-BR'], [standard, flexible], [-2, 3], { ages: [6] }),
  stay('SOL-106', ['Martín', 'Acosta', 'AR', 'es'], [deluxe, flexible], [-2, 4], { adults: 3 }),
  stay('SOL-107', ['Gustavo', 'Pires', 'BR', 'pt-BR'], [standard, saver], [-2, 2]),
  stay('SOL-108', ['Yara', 'Monte', 'BR', 'pt-BR'], [standard, flexible], [-2, 1], { money: 'due' }),
  // They came yesterday.
  stay('SOL-201', ['Sofia', 'Lindqvist', 'SE', 'en'], [standard, flexible], [-1, 1], { adults: 1 }),
  stay('SOL-202', ['Rafael', 'Bastos', 'BR', 'pt-BR'], [deluxe, flexible], [-1, 4], { money: 'due' }),
  stay('SOL-203', ['Amélie', 'Dubois', 'FR', 'fr'], [master, flexible], [-1, 3], { requests: 'A cot, please' }),
  stay('SOL-204', ['Caio', 'Nogueira', 'BR', 'pt-BR'], [standard, flexible], [-1, 2], {
    money: 'none',
    source: 'walk_in',
  }),
  // They come today.
  stay('SOL-301', ['Ingrid', 'Olsen', 'NO', 'en'], [standard, flexible], [0, 2], { money: 'due' }),
  stay('SOL-302', ['Diego', 'Fuentes', 'CL', 'es'], [standard, saver], [0, 4]),
  stay('SOL-303', ['Beatriz', 'Sampaio', 'BR', 'pt-BR'], [deluxe, flexible], [0, 3], {
    requests: 'They arrive late, around 23:00',
  }),
  stay('SOL-304', ['Otto', 'Brandt', 'AT', 'de'], [standard, flexible], [0, 1], { money: 'none', source: 'walk_in' }),
  // They come in the weeks ahead.
  stay('SOL-401', ['Lívia', 'Rezende', 'BR', 'pt-BR'], [standard, flexible], [2, 3], { money: 'due' }),
  stay('SOL-402', ['James', 'Whitaker', 'GB', 'en'], [deluxe, saver], [4, 5]),
  stay('SOL-403', ['Marina', 'Lobo', 'BR', 'pt-BR'], [standard, flexible], [6, 2], { money: 'due', source: 'email' }),
  stay('SOL-404', ['Hugo', 'Almeida', 'BR', 'pt-BR'], [master, flexible], [9, 2], { adults: 4, ages: [11] }),
  stay('SOL-405', ['Chiara', 'Bianchi', 'IT', 'it'], [deluxe, flexible], [12, 7], { money: 'due' }),
  stay('SOL-406', ['Noah', 'de Vries', 'NL', 'en'], [standard, flexible], [15, 3], { money: 'due' }),
  stay('SOL-407', ['Isadora', 'Freitas', 'BR', 'pt-BR'], [standard, saver], [18, 2]),
  stay('SOL-408', ['Camila', 'Torres', 'UY', 'es'], [deluxe, flexible], [21, 4], { money: 'due' }),
  stay('SOL-409', ['Fábio', 'Mendes', 'BR', 'pt-BR'], [standard, flexible], [25, 1], { money: 'none' }),
  stay('SOL-410', ['Aiko', 'Tanaka', 'JP', 'en'], [standard, flexible], [33, 6], { money: 'disputed' }),
  stay('SOL-411', ['Otávia', 'Leal', 'BR', 'pt-BR'], [deluxe, flexible], [40, 2], { money: 'due' }),
  stay('SOL-412', ['Ana Lúcia', 'Vidal', 'BR', 'pt-BR'], [standard, flexible], [48, 5], { money: 'due', ages: [8] }),
  stay('SOL-413', ['Connor', 'Byrne', 'IE', 'en'], [standard, saver], [55, 2], { adults: 1 }),
  stay('SOL-414', ['Sílvia', 'Macedo', 'BR', 'pt-BR'], [deluxe, flexible], [75, 3], { money: 'due', source: 'email' }),
  // They have changed their minds, cannot pay, or have not decided yet.
  stay('SOL-501', ['Denise', 'Prado', 'BR', 'pt-BR'], [standard, flexible], [20, 2], { money: 'due' }),
  stay('SOL-502', ['Tomás', 'Herrera', 'MX', 'es'], [standard, saver], [28, 3]),
  stay('SOL-503', ['Vitor', 'Queiroz', 'BR', 'pt-BR'], [standard, flexible], [14, 2], { money: 'declined' }),
  stay('SOL-504', ['Paula', 'Siqueira', 'BR', 'pt-BR'], [deluxe, flexible], [30, 2], { money: 'pix' }),
]
