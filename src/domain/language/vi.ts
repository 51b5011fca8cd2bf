import type { LanguageWords } from "./words.ts";

export const vi: LanguageWords = {
  common:
    "tôi, là, và, của, có, không, một, cho, ở, này, được, với, các, trong, mình, nên, gì, đang, bị, cái, người, rất, đã",
  self: "tôi, mình, chúng tôi, em",
  plural: "chúng tôi, chúng ta",
  whose: "của tôi, của mình",
  traits:
    "tên, sinh nhật, tuổi, email, địa chỉ, điện thoại, nghề, công việc, yêu thích, tiếng mẹ đẻ, chiều cao, dị ứng",
  you: "bạn, anh ơi, cậu",
  others:
    "anh ấy, cô ấy, họ, nó, bạn tôi, bạn của tôi, sếp, đồng nghiệp, hàng xóm, anh trai, chị gái, em trai, em gái, mẹ tôi, bố tôi, ba tôi, con trai, con gái, vợ tôi, chồng tôi, chú, bác, bà, ông, người ta, ai đó, anh họ tôi, chị họ tôi",
  third: "",
  asks: "ai, gì, khi nào, ở đâu, tại sao, vì sao, thế nào, bao nhiêu, có phải, liệu, phải chăng, làm sao",
  denies: "không, chưa, chẳng, đừng, không bao giờ, không còn, bỏ, ngừng, trước đây, ghét, chả",
  now: "nữa, bây giờ, giờ, hiện nay, hôm nay",
  past: "từng, trước đây, hồi đó, ngày xưa, trước kia, đã từng",
  turns: "nhưng, tuy",
  causes: "vì, bởi vì, nên",
  never: "không bao giờ, chưa bao giờ",
  relates: "mà",
  since: "từ khi",
  excepts: "trừ tôi",
  joins: "và",
  supposes:
    "nếu, giả sử, giả dụ, có lẽ, có thể, ước gì, giá mà, muốn, hy vọng, định, dự định, tưởng tượng, hay là, mơ thấy, nằm mơ, giấc mơ",
  reports: "nói, bảo, kể, theo, cho rằng, nghĩ rằng, nghe nói, đồn, tin đồn, viết, tuyên bố, tin rằng",
  scenes:
    "tưởng tượng, giả vờ, nhập vai, đóng vai, kịch bản, tiểu thuyết, truyện, nhân vật, bạn là, hư cấu, bài thơ, bài hát, chương, độc thoại, bạn đóng vai, mình đóng vai, tôi đóng vai",
  ends: "quay lại với tôi, ngoài đời, hết trò chơi, kết thúc trò chơi, chủ đề khác, chủ đề mới",
  hands: "dịch, sửa lỗi, viết lại, tóm tắt, rút gọn, viết tiếp, hoàn thành, chỉnh sửa câu, các câu",
  texts:
    "thư, văn bản, câu, tin nhắn, email, bài viết, đánh giá, bài thơ, bài phát biểu, trích dẫn, sau đây, quảng cáo, biển, đoạn",
  frames: "nhân tiện, lưu ý, thông tin, đừng quên, đính chính, chi tiết, tình hình, tóm lại, nếu có ích",
  undoes:
    "đùa, nói đùa, không thật, không đúng, nói dối, quên đi, ý tôi là, nhầm, đó là, ở trên, dịch, à không, ấy nhầm, nói nhầm, gõ nhầm, nhầm rồi, cá tháng tư",
  points: "đó là, ý tôi là",
  orders:
    "hãy nhớ, ghi nhớ, lưu lại, bỏ qua, thay thế, ghi đè, quên, xóa, từ giờ, từ nay, bạn phải, thêm vào",
  memory: "bộ nhớ, chỉ thị, quản trị viên, cho phép, đồng ý cho",
  roles: "người dùng, trợ lý ai",
  secrets: "mật khẩu, mã pin, số thẻ, số tài khoản, thẻ tín dụng",
  pleasantries:
    "à, ạ, anh, bạn, biết, buổi, cảm, chào, chắc, chúc, chưa, có, của, được, đã, em, gặp, gì, giờ, hẹn, hiểu, hôm, không, khỏe, lại, lắm, lỗi, mai, mình, nay, ngon, ngủ, nhé, nhiều, ổn, ok, ơn, rất, rồi, sáng, tạm, tốt, trưa, tối, tuyệt, và, vâng, vấn, đề, vẫn, vời, vui, xin",
};
