import { passwordLimits } from '../../config/limits.ts'
import { invalid } from '../../config/errors.ts'
import { Text } from '../../config/schema.ts'

const { mostBytes } = passwordLimits

/** A password as it is given; see `bounded`. */
export const Password = Text(1, mostBytes)

/** 400 where it is too long to be hashed. It is taken byte for byte, so what counts is the length in bytes of UTF-8. */
export const bounded = (field: string, password: string): void => {
  if (Buffer.byteLength(password) > mostBytes)
    throw invalid([{ field, message: `must not be longer than ${mostBytes} bytes` }])
}
