/** `ana.silva@example.com` → `a***@e***.com` */
export const maskEmail = (email: string): string => {
  const [name = '', domain = ''] = email.split('@')
  const end = domain.lastIndexOf('.')
  return `${name.slice(0, 1)}***@${domain.slice(0, 1)}***${end > 0 ? domain.slice(end) : ''}`
}

/** The last four digits. */
export const maskPhone = (phone: string): string => `***${phone.slice(-4)}`

/** The last two characters. */
export const maskNumber = (number: string): string => `***${number.slice(-2)}`

/** Whole years from a birth date to a day; a person born on 29 February is a year older from 1 March on in other years. */
export const ageOn = (birthDate: string, day: string): number =>
  Number(day.slice(0, 4)) - Number(birthDate.slice(0, 4)) - (day.slice(5) < birthDate.slice(5) ? 1 : 0)
