/** `ana.silva@example.com` → `a***@e***.com` */
export const maskEmail = (email: string): string => {
  const [name = '', domain = ''] = email.split('@')
  const end = domain.lastIndexOf('.')
  return `${name.slice(0, 1)}***@${domain.slice(0, 1)}***${end > 0 ? domain.slice(end) : ''}`
}

/** The last four digits. */
export const maskPhone = (phone: string): string => `***${phone.slice(-4)}`
