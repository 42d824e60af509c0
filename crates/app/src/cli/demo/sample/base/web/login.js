export function greet(user) {
  return `Hello ${user.name}`;
}
