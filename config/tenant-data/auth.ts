import { inner, rows } from './table.ts'

export const authData = [
  ...rows('role', 'membership', 'membership_property', 'api_key', 'api_key_property'),
  ...inner('a note that a mail was sent', 'api_key_warning'),
]
