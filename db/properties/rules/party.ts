import type { AgeCategory, Catalogue, SaleType } from '../sale/catalogue.ts'

export type Party = { adults: number; childrenAges: number[] }

export type CountedParty = {
  /** By age band, so a guest of 14 may be an adult. */
  adults: number
  /** Age category of each child; null where it has no id. */
  children: (string | null)[]
  /** Age category of each person. */
  persons: (string | null)[]
  /** Guests who count in the occupancy and pay per person. */
  counted: number
  countedChildren: number
}

const categoryOf = (categories: AgeCategory[], age: number) =>
  categories.find((category) => age >= category.minAge && (category.maxAge === null || age <= category.maxAge)) ??
  categories.at(-1)!

/** A party by the property's age bands; ages are those on the day of arrival. */
export const countParty = ({ ageCategories }: Pick<Catalogue, 'ageCategories'>, party: Party): CountedParty => {
  const ages = party.childrenAges.map((age) => categoryOf(ageCategories, age))
  const children = ages.filter((category) => category.kind !== 'adult')
  const adults = party.adults + ages.length - children.length
  const adultId = ageCategories.find((category) => category.kind === 'adult')?.id ?? null
  const countedChildren = children.filter((category) => category.countsInOccupancy).length
  return {
    adults,
    children: children.map((category) => category.id),
    persons: [...Array.from({ length: adults }, () => adultId), ...children.map((category) => category.id)],
    counted: adults + countedChildren,
    countedChildren,
  }
}

export const fits = (type: SaleType, party: CountedParty) =>
  party.adults <= type.maxAdults && party.countedChildren <= type.maxChildren && party.counted <= type.maxOccupancy
