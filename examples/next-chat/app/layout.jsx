export const metadata = { title: "Next chat" };

export default function Layout({ children }) {
  return (
    <html lang="en">
      <body style={{ maxWidth: "40rem", margin: "2rem auto", fontFamily: "system-ui" }}>{children}</body>
    </html>
  );
}
