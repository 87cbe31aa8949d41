type Address = {
  line1?: string
  line2?: string
  district?: string
  city?: string
  region?: string
  postalCode?: string
  countryCode?: string
}
/** The taker of the service, as a fiscal document names them. */
export type Taker = {
  name: string
  isPerson: boolean
  countryCode: string
  document: string | null
  address: Address | null
  email: string | null
}

const asked = ['line1', 'city', 'region', 'postalCode'] as const

/** Fields that cities of Brazil ask for and that are missing (R17): number and address of firms. Guests may go without. */
export const missingOf = ({ isPerson, countryCode, document, address, name }: Taker): string[] => [
  ...(name.trim() === '' ? ['taker.name'] : []),
  ...(isPerson || countryCode !== 'BR'
    ? []
    : [
        ...(document === null ? ['taker.document'] : []),
        ...asked.filter((part) => !address?.[part]?.trim()).map((part) => `taker.address.${part}`),
      ]),
]
