import { toE164 } from './phone-numbers.ts'
import { isCnpj, isCpf } from './tax-ids.ts'
import { pixKeyTypes } from './pix.ts'
import type { PixKeyType } from './pix.ts'

const bare = (text: string) => text.replaceAll(/[.\-/ ]/g, '').toUpperCase()

/** A key as it is kept and sent (R22); null for one that is none of its type. */
export const pixKeyOf = (type: PixKeyType, key: string): string | null => {
  switch (type) {
    case 'cpf':
      return isCpf(key) ? bare(key) : null
    case 'cnpj':
      return isCnpj(key) ? bare(key) : null
    case 'email': {
      const lower = key.trim().toLowerCase()
      return lower.length <= 77 && /^[^\s@]{1,64}@[^\s@]+\.[^\s@]+$/.test(lower) ? lower : null
    }
    case 'phone':
      return toE164(key) === key ? key : null
    case 'random':
      return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(key) ? key.toLowerCase() : null
  }
}

/** Tells whether a text is a key of any type, written as the bank writes it. */
export const isPixKey = (text: string): boolean =>
  pixKeyTypes.some((type) => pixKeyOf(type, text)?.toLowerCase() === text.toLowerCase())
